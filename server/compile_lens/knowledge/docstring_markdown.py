"""Makes the documentation that torch and Triton write readable in a hover: reStructuredText and LaTeX become Markdown and plain signs."""

from __future__ import annotations

import re

# signs and names of LaTeX that occur in the documentation of torch 2.6 to 2.15
SIGNS = {
    "times": "×", "cdot": "·", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "approx": "≈", "sum": "Σ", "prod": "Π",
    "infty": "∞", "in": "∈", "to": "→", "rightarrow": "→", "pm": "±", "ldots": "…", "dots": "…", "cdots": "…", "odot": "⊙", "ast": "*",
    "star": "*", "partial": "∂", "nabla": "∇", "forall": "∀", "sqrt": "√", "mid": "|", "lvert": "|", "rvert": "|", "lVert": "‖",
    "rVert": "‖", "Vert": "‖", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "div": "÷", "circ": "∘", "quad": " ", "qquad": " ",
    "alpha": "α", "beta": "β", "gamma": "γ", "Gamma": "Γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε", "varepsilon": "ε", "eta": "η",
    "theta": "θ", "Theta": "Θ", "lambda": "λ", "Lambda": "Λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "Sigma": "Σ", "tau": "τ",
    "phi": "φ", "Phi": "Φ", "psi": "ψ", "omega": "ω", "Omega": "Ω", "ell": "ℓ", "int": "∫", "cup": "∪", "cap": "∩",
    "otimes": "⊗", "ddots": "⋱", "vdots": "⋮", "kappa": "κ", "zeta": "ζ", "xi": "ξ", "nu": "ν", "chi": "χ",
    "sim": "∼", "inf": "∞",
    "digamma": "ψ",
}  # fmt: skip
# these stand for themselves, or only change how something is set
WORDS = (
    "exp", "log", "ln", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min", "arg", "argmax", "argmin", "det", "dim", "lim", "sup",
    "Pr", "softmax", "text", "mathrm", "mathbf", "mathbb", "mathcal", "operatorname", "textbf", "textit", "texttt", "mathbin", "mathrlap",
    "left", "right", "bigg", "Bigg",
    "big", "Big", "displaystyle", "limits", "hat", "bar", "overline", "tilde", "bmod", "mod", "begin", "end",
)  # fmt: skip
KEPT = frozenset(WORDS[: WORDS.index("text")]) | {"bmod", "mod"}
_COMMAND = re.compile(r"\\(" + "|".join(sorted([*SIGNS, *WORDS, "frac"], key=len, reverse=True)) + r")(?![A-Za-z])")
_FRACTION = re.compile(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}")
_ROLE = re.compile(r":(?:\w+:)?\w+:`~?([^`<]*?)(?:\s*<[^`>]*>)?`")
_DIRECTIVE = re.compile(r"^(?P<indent>\s*)\.\. (?P<name>[\w-]+)\s*::?(?:\s+(?P<rest>.*))?$")
_TITLED = ("warning", "note", "tip", "important", "caution", "seealso", "deprecated", "versionadded", "versionchanged")
_FIELD = re.compile(
    r"^(?P<indent>\s*):(?P<what>param|ivar|note|type|returns?|rtype|raises?)(?: (?P<name>[^:]+))?:\s*(?P<rest>.*)$"
)
# a title, which Markdown would make as large as the name that is explained, or a rule
_UNDERLINED = re.compile(r"^(?P<indent> *)(?P<title>\S.*)\n *([*=~^\"-])\3{2,} *$", re.MULTILINE)


def readable(text: str) -> str:
    """``text`` as Markdown. What is already Markdown stays as it is."""
    if (
        ".. " not in text
        and "::" not in text
        and ":`" not in text
        and "\\" not in text
        and not re.search(r"^\s*:\w+", text, re.MULTILINE)
        and not _UNDERLINED.search(text)
    ):
        return text
    text = _UNDERLINED.sub(r"\g<indent>**\g<title>**\n", text)
    text = re.sub(r":(?:code|math):(?=`)", "", _ROLE.sub(lambda match: f"`{match[1]}`", text))
    return "\n".join(_lines(text.split("\n")))


def plain_formula(text: str) -> str:
    """``text`` with the commands of LaTeX as the signs that they stand for."""
    if "\\" not in text:
        return text
    for _ in range(3):  # fractions in fractions
        text = _FRACTION.sub(lambda match: f"{_grouped(match[1])} / {_grouped(match[2])}", text)
    # what a command only sets in another font loses its braces
    text = re.sub(
        r"\\(?:text|mathrm|mathbf|mathbb|mathcal|operatorname|textbf|textit|texttt|mathbin|mathrlap)\{([^{}]*)\}",
        r"\1",
        text,
    )
    if not _COMMAND.search(text):
        return text
    text = _COMMAND.sub(lambda match: SIGNS.get(match[1], match[1] if match[1] in KEPT else ""), text)
    text = re.sub(r"([_^])\{(\w+)\}", r"\1\2", text)
    text = re.sub(r"([_^])\{([^{}]*)\}", r"\1(\2)", text)
    text = re.sub(r"√\{([^{}]*)\}", r"√(\1)", text)
    return text.replace("\\_", "_").replace("\\|", "‖").replace("\\,", " ").replace("\\ ", " ")


def _grouped(part: str) -> str:
    part = part.strip()
    return part if re.fullmatch(r"\\?\w+(?:\([^()]*\))?", part) else f"({part})"


def _lines(lines: list[str]) -> list[str]:
    types = {
        match["name"]: match["rest"] for line in lines if (match := _FIELD.match(line)) and match["what"] == "type"
    }
    found: list[str] = []
    in_type = False
    for line in lines:
        field, directive = _FIELD.match(line), _DIRECTIVE.match(line)
        if in_type and line.strip() and field is None:
            continue  # the end of a type of several lines
        in_type = field is not None and field["what"] in ("type", "rtype")
        if in_type:
            continue
        if field is not None:
            found.append(_field(field, types))
        elif directive is not None:
            if directive["name"] in _TITLED:
                title = directive["name"].capitalize()
                found.append(f"{directive['indent']}**{title}:** {directive['rest'] or ''}".rstrip())
        else:
            found.append(plain_formula(re.sub(r"(?<=\S)::\s*$", ":", line)))
    return found


def _field(field: re.Match[str], types: dict[str, str]) -> str:
    what, name, rest = field["what"], (field["name"] or "").strip(), plain_formula(field["rest"])
    if what in ("param", "ivar"):
        # the type may stand before the name: `:param int axis:`
        kind, _, last = name.rpartition(" ")
        kind = kind or types.get(name, "")
        return f"- `{last}`{f' ({plain_formula(kind)})' if kind else ''}: {rest}".rstrip(": ")
    title = {"note": "**Note:**", "raise": "Raises", "raises": "Raises"}.get(what, "Returns")
    return f"{title.removesuffix(':**')}{f' `{name}`' if name else ''}{':**' if what == 'note' else ':'} {rest}".rstrip(
        ": "
    )
