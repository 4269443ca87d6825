"""The picture of the way of a text: tokenizer, encoder that batches by length, postprocess, pinned by an ensemble."""

from tests.pictures.canvas import WIDTH, Canvas, Theme
from trireme.reports import strong_colours

_LENGTHS = (5, 10, 4, 11, 10, 4, 11, 5)
"""Tokens of the texts in flight, in the order of their arrival; the first is the one that is followed."""
_SUB_BATCHES = ((2, 5, 0, 7), (1, 4, 3, 6))
_SCORES = (0.98, 0.71, 0.84, 0.93, 0.66, 0.9, 0.77, 0.88)
_CELL, _PITCH, _ROW = 9, 12, 16
_ENSEMBLE_TOP, _CARD_TOP, _CARD_HEIGHT, _ROWS_TOP = 66, 116, 288, 56
_HEIGHT = 474
_TOKENIZER, _ENCODER, _POSTPROCESS = (16, 188), (232, 206), (466, 198)
"""Left edge and width of each step's card."""
_TITLE, _SMALL = 18, 15
_RELEASES, _PINNED = (6, 7, 8), 7


def draw_way(theme: Theme) -> str:
    """The picture as SVG."""
    canvas = Canvas(_HEIGHT, theme, "A text's way through a pipeline: tokenizer, encoder, postprocess")
    strong = theme.of(strong_colours(1)[0])
    _draw_ensemble(canvas)
    _draw_client(canvas, strong)
    _draw_card(canvas, _TOKENIZER, "tokenizer", ("texts become ids,", "as they arrive"))
    _draw_card(canvas, _ENCODER, "encoder", ("sorted by length, cut", "where least is padded"))
    _draw_card(canvas, _POSTPROCESS, "postprocess", ("scores become labels,", "entities or vectors"))
    _draw_arrivals(canvas, strong)
    _draw_sub_batches(canvas, strong)
    _draw_answers(canvas, strong)
    _draw_pins(canvas, strong)
    return canvas.svg()


def _draw_client(canvas: Canvas, strong: str) -> None:
    """What is asked and what is answered, above the pipeline."""
    text_x, answer_x = _TOKENIZER[0] + 30, _POSTPROCESS[0] + _POSTPROCESS[1] - 30
    canvas.text(0, 20, "“fast delivery, good quality”", _TITLE, strong, font_weight=650)
    canvas.text(text_x + 14, 52, "HTTP or gRPC", _SMALL, canvas.theme.soft)
    canvas.arrow((text_x, 32), (text_x, _CARD_TOP))
    canvas.text(WIDTH, 20, "positive 0.98, release 7", _TITLE, strong, font_weight=650, text_anchor="end")
    canvas.arrow((answer_x, _CARD_TOP), (answer_x, 32))


def _draw_ensemble(canvas: Canvas) -> None:
    style = {"rx": 12, "fill": "none", "stroke": canvas.theme.line, "stroke_width": 2}
    canvas.box(1, _ENSEMBLE_TOP, WIDTH - 2, _HEIGHT - _ENSEMBLE_TOP - 1, **style)
    canvas.text(
        WIDTH / 2, _ENSEMBLE_TOP + 32, "Triton: ensemble “sentiment”", _TITLE, text_anchor="middle", font_weight=650
    )


def _draw_card(canvas: Canvas, place: tuple[int, int], title: str, lines: tuple[str, str]) -> None:
    left, width = place
    canvas.box(left, _CARD_TOP, width, _CARD_HEIGHT, rx=8, fill=canvas.theme.card, stroke=canvas.theme.line)
    canvas.text(left + 14, _CARD_TOP + 30, title, _TITLE, font_weight=650)
    for number, words in enumerate(lines):
        canvas.text(left + 14, _CARD_TOP + 214 + 21 * number, words, _SMALL, canvas.theme.soft)
    if place != _POSTPROCESS:
        middle = _CARD_TOP + _ROWS_TOP + 4 * _ROW
        canvas.arrow((left + width + 3, middle), (left + width + 25, middle))


def _draw_tokens(canvas: Canvas, at: tuple[float, float], count: int, colour: str) -> None:
    for place in range(count):
        canvas.box(at[0] + _PITCH * place, at[1], _CELL, _CELL, rx=2, fill=colour)


def _colour_of(canvas: Canvas, text: int, strong: str) -> str:
    return strong if text == 0 else canvas.theme.token


def _draw_arrivals(canvas: Canvas, strong: str) -> None:
    """The texts in flight as tokens, unpadded, in the order in which they came."""
    for text, tokens in enumerate(_LENGTHS):
        at = (_TOKENIZER[0] + 16, _CARD_TOP + _ROWS_TOP + _ROW * text)
        _draw_tokens(canvas, at, tokens, _colour_of(canvas, text, strong))


def _draw_sub_batches(canvas: Canvas, strong: str) -> None:
    """The same texts sorted by length; a frame is one call of the engine, a hollow cell is padding."""
    left, row = _ENCODER[0] + 20, 0
    for number, texts in enumerate(_SUB_BATCHES):
        longest, top = max(_LENGTHS[text] for text in texts), _CARD_TOP + _ROWS_TOP + _ROW * row + 14 * number - 6
        frame = {"rx": 4, "fill": "none", "stroke": canvas.theme.soft, "stroke_width": 1.5}
        canvas.box(left - 6, top - 6, _PITCH * longest + 9, _ROW * len(texts) + 5, **frame)
        for place, text in enumerate(texts):
            at = (left, top + _ROW * place)
            _draw_tokens(canvas, at, _LENGTHS[text], _colour_of(canvas, text, strong))
            for cell in range(_LENGTHS[text], longest):
                padding = {"rx": 2, "fill": "none", "stroke": canvas.theme.token}
                canvas.box(at[0] + _PITCH * cell + 0.5, at[1] + 0.5, _CELL - 1, _CELL - 1, **padding)
        row += len(texts)


def _draw_answers(canvas: Canvas, strong: str) -> None:
    """A score for each text, again in the order in which they came."""
    left, width = _POSTPROCESS[0] + 16, _POSTPROCESS[1] - 32
    for text, score in enumerate(_SCORES):
        top = _CARD_TOP + _ROWS_TOP + _ROW * text
        canvas.box(left, top, width, _CELL, rx=2, fill=canvas.theme.line)
        canvas.box(left, top, width * score, _CELL, rx=2, fill=_colour_of(canvas, text, strong))


def _draw_pins(canvas: Canvas, strong: str) -> None:
    """The releases in each step's folder, and the one that the ensemble pins in all of them."""
    rail = _CARD_TOP + _CARD_HEIGHT + 22
    centres = []
    for left, _ in (_TOKENIZER, _ENCODER, _POSTPROCESS):
        for place, release in enumerate(_RELEASES):
            at, is_pinned = left + 14 + 46 * place, release == _PINNED
            fill = strong if is_pinned else canvas.theme.ground
            canvas.box(at, rail - 56, 38, 26, rx=6, fill=fill, stroke=strong if is_pinned else canvas.theme.line)
            ink = canvas.theme.ground if is_pinned else canvas.theme.soft
            canvas.text(at + 19, rail - 37, str(release), _SMALL, ink, text_anchor="middle", font_weight=650)
            if is_pinned:
                centres.append(at + 19)
    for centre in centres:
        canvas.line((centre, rail - 30), (centre, rail), colour=strong, width=2.5)
    canvas.line((centres[0], rail), (centres[-1], rail), colour=strong, width=2.5)
    words = f"the ensemble pins release {_PINNED} in every step; moving the pin takes milliseconds"
    canvas.text(WIDTH / 2, rail + 30, words, _SMALL, text_anchor="middle")
