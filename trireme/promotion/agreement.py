"""How far two releases' answers to the same texts agree, and what is too little."""

from dataclasses import dataclass

MIN_AGREEMENT = 0.9
MIN_COMPARED = 30


@dataclass(frozen=True)
class Agreement:
    """The sum of the agreements of so many texts, each from 0 to 1. What an agreement is, is the task's to say."""

    total: float = 0.0
    texts: int = 0

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(self.total + other.total, self.texts + other.texts)

    def __sub__(self, earlier: "Agreement") -> "Agreement":
        return Agreement(self.total - earlier.total, self.texts - earlier.texts)

    @property
    def mean(self) -> float:
        """The mean; 0 where nothing was compared, so that nobody takes silence for agreement."""
        return self.total / self.texts if self.texts else 0.0

    def reason_against(self, least: float) -> str:
        """Why a candidate that agrees so far is refused; empty if it is not."""
        if not self.texts:
            return "no answers could be compared"
        return f"agreement {self.mean:.4g} is below {least:.4g}" if self.mean < least else ""
