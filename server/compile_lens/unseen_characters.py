"""Which characters of a text are never seen, or change how others are: words for an assistant could be hidden in them."""

from __future__ import annotations

from compile_lens.late_pattern import pattern

# What may be an emoji, or is shown as a picture with a selector behind it: more than Unicode's emoji-variation-sequences.txt and
# emoji-zwj-sequences.txt name, all of it seen. A digit is one with a frame around it.
_PICTURE = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
# after which letters join or not (RFC 5892, A.1 and A.2): characters of the combining class of a virama
_VIRAMA = (
    "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84\u1039\u103a\u1714\u1715\u1734\u17d2\u1a60"
    "\u1b44\u1baa\u1bab\u1bf2\u1bf3\u2d7f\ua806\ua82c\ua8c4\ua953\ua9c0\uaaf6\uabed\U00010a3f\U00011046\U00011070\U0001107f\U000110b9"
    "\U00011133\U00011134\U000111c0\U00011235\U000112ea\U0001134d\U00011442\U000114c2\U000115bf\U0001163f\U000116b6\U0001172b\U00011839"
    "\U0001193d\U0001193e\U000119e0\U00011a34\U00011a47\U00011a99\U00011c3f\U00011d44\U00011d45\U00011d97"
)
# scripts whose letters join (Arabic, Syriac, N'Ko, Mongolian, Adlam): a non-joiner stands between two of them
_JOINING = "\u0620-\u07ff\u0840-\u085a\u0860-\u08ff\u1820-\u18aa\ufb50-\ufdff\ufe70-\ufefc\U0001e900-\U0001e94b"

# Control characters (C0 but tab and newline, DEL, C1), separators of lines, characters that reorder or hide others, and those that are
# never seen (Cf, and Default_Ignorable_Code_Point); halves of characters. Selectors and joiners but where emoji and scripts are made with
# them: one behind each letter that is seen has four bits.
UNSEEN = pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    rf"|(?<![{_PICTURE}])(?!(?<=[0-9#*])\ufe0f\u20e3)[\ufe0e\ufe0f]"
    rf"|(?!(?:(?<=[{_PICTURE}])|(?<=[{_PICTURE}]\ufe0f))\u200d[{_PICTURE}]|(?<=[{_VIRAMA}])\u200d)\u200d"
    rf"|(?!(?<=[{_VIRAMA}])\u200c|(?<=[{_JOINING}])\u200c[{_JOINING}])\u200c"
)
