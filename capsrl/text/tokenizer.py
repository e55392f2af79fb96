"""Tokenize text without blanks as in UD English EWT.

EWT, the English Web Treebank, follows the Penn treebank's guidelines for web text: clitics are
words (do n't, can not, Anna 's), hyphens and slashes too (long - term, and / or) except after a
prefix or before a suffix (e-mail, non-stop, clock-wise) and in telephone numbers and dates;
addresses, file names and emoticons stay whole, amounts are separated from currency and unit
($ 5 m), and a run of the same mark is one word (!!!, ...). Each Han character is a word, and so is
a run of kana or of any other script.

Where the treebank is inconsistent the more frequent way was chosen. No character is changed,
dropped or joined across a blank, and the time is linear in the length of the text.
"""

import re
from functools import cache, lru_cache
from itertools import accumulate

# White space, control characters, and invisible characters that separate or direct text. They
# belong to no word: encoders drop them, and a word of nothing else would have no subwords.
BLANK = r"\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"

_HAN = (
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
_KANA = r"\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
_EMOJI = (
    r"\u00a9\u00ae\u203c\u2049\u2122\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf"
    r"\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff"
)
# Characters that end a run of letters. `\w` would not do: it lacks the vowel signs of Indic
# scripts, joiners and other marks inside words.
_MARKS = (
    BLANK
    + r"!-/:-@\[-^`{-~\xa1-\xa8\xab\xac\xaf-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7\u037e\u0387\u0589"
    + r"\u05be\u05c0\u05c3\u060c\u061b\u061f\u06d4\u0964\u0965\u2000-\u200b\u2010-\u2027"
    + r"\u2030-\u205f\u20a0-\u20cf\u3001-\u3004\u3008-\u3020\u3030\u303d\u30fb\ufe10-\ufe1f"
    + r"\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
    + _HAN
    + _KANA
    + _EMOJI
)
_L = rf"[^{_MARKS}]"  # a letter, digit or underscore of any other script
_NO = rf"(?!{_L})"  # no letter follows
_NOT_AFTER = rf"(?<!{_L})"

# Penn treebank, Supplementary Guidelines for web text: affixes that keep their hyphen.
_OPENING = (
    "agro ante anti arch be bi bio co counter cross cyber de eco ex extra inter intra macro "
    "mega micro mid mini multi neo non over pan para peri post pre pro proto pseudo psycho "
    "quasi re semi socio sub super tri ultra un uni"
).replace(" ", "|")
_SUFFIX = "esque|ette|ever|fest|fold|gate|itis|less|most|o-torium|rama|wise"
_DOMAIN = "com|org|net|edu|gov|mil|info|biz|io|co|us|uk|ca|au|nz|de|fr|eu|in|jp|tv|ly"
_FILE = "docx?|xlsx?|pptx?|pdf|txt|html?|jpe?g|gif|png|zip|exe|mp3|mp4|csv|xml|url|dtf|wpd|py|js"
_UNIT = "am|pm|AM|PM|Am|Pm|k|K|m|mm|cm|km|kg|lbs?|oz|ft|bn|mph|hrs?|mins?|yrs?|x"
_Q = "['’`´]"

_ABBREVIATIONS = (
    "Mr Mrs Ms Dr Drs Prof Rev Fr Sr Jr Gen Col Capt Cmdr Maj Lt Sgt Cpl Pvt Gov Sen Sens Rep "
    "Reps Hon Pres Atty Supt Det St Ste Mt Ft Ave Blvd Rd Bldg Hwy Apt Inc Corp Co Cos Ltd "
    "Bros Dept Univ Assn Ass't Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues "
    "Wed Thu Thur Thurs Fri Sat Sun vs etc eg ie al approx esp ext Ext tel Tel Attn Fig fig "
    "Figs Vol vol pp Ph Sec Para Ch ed eds Ed Eds Esq Que Va La Calif Fla Ariz Mass Conn Penn "
    "Tenn Ala Ark Colo Ind Kan Md Mich Minn Miss Mo Neb Nev Okla Ore Tex Vt Wash Wis Wyo cf "
    "viz Conf Spec yrs hrs mins lb lbs oz LTD INC CORP CO PVT Sts"
).replace(" ", "|")
# Clitics without their apostrophe, and other double words: the offsets where they are cut.
_CUTS = {
    "".join(parts): tuple(accumulate(map(len, parts[:-1])))
    for parts in map(
        str.split,
        "do nt,wo nt,ca nt,did nt,does nt,is nt,was nt,are nt,were nt,would nt,could nt,should nt,"
        "have nt,has nt,had nt,ai nt,i m,i ve,you ve,we ve,they ve,you re,they re,you ll,it ll,"
        "they ll,that s,what s,there s,he s,she s,let s,can not,gon na,got ta,wan na,out ta,lem me,"
        "gim me,du n no,a lot".split(","),
    )
}

EMOTICON = r"(?:>?[:;=][-~^o]?'?[()DPpO3/\\|\[\]*]+|[xX]D|\^_*\^|-_+-|<3+|x\.x|\(+[:;=])"
# At most a dozen groups: without a bound, long lists like 1,2,3,...,9a take quadratic time.
_DIGITS = r"\d+(?:[.,:]\d+){0,12}"
_IN_ADDRESS = r"[^<>\"“”]"

# The first rule that matches wins. To keep the time linear, repetitions over several classes of
# characters are bounded, or tried only at the first letter of a run (_NOT_AFTER).
_RULES = [
    rf"[{_HAN}][\ufe00-\ufe0f\U000e0100-\U000e01ef]*|[{_KANA}]+",
    # addresses and names of files
    rf"(?i:https?://|ftp://|www\.|mailto:|ymsgr:){_IN_ADDRESS}*[^<>\"“”.,;:!?'’)\]}}…*]",
    rf"{_NOT_AFTER}[\w.+%~-]{{1,64}}@[A-Za-z][\w-]*(?:\.\w[\w-]*)*",
    rf"{_NOT_AFTER}[\w#~%-]{{1,64}}(?:\.[\w~-]{{1,64}}){{0,8}}\.(?i:{_FILE}){_NO}",
    rf"(?<![\w.])\.(?i:{_FILE}){_NO}",
    rf"{_NOT_AFTER}\w[\w-]{{0,63}}(?:\.\w[\w-]{{0,63}}){{0,8}}\.(?:{_DOMAIN}|COM|ORG|NET){_NO}"
    rf"(?:/{_IN_ADDRESS}*[\w/])?",
    rf"{_NOT_AFTER}[a-z]{{2,20}}(?:\.[a-z][\w-]{{0,30}}){{2,8}}",  # comp.sources.unix
    r"(?<![\w@#])[@#](?!\d)\w{2,}",
    # emoticons, then emoji with everything joined to them
    rf"(?<![\w:/(]){EMOTICON}(?![\w/])|(?<=[^\W\d]):(?:-?[)(]+|D)(?![\w/])",
    r"[\U0001f1e6-\U0001f1ff]{2}|[#*0-9]\ufe0f?\u20e3",
    rf"[{_EMOJI}][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
    rf"(?:\u200d[{_EMOJI}][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*)*\u200d?",
    # telephone numbers, post codes, dates; other hyphens and slashes between numbers are words
    rf"{_NOT_AFTER}(?:\d{{1,2}}-)?(?:\d{{3}}[-/])?\d{{3}}-\d{{4}}{_NO}",
    rf"{_NOT_AFTER}(?:\d{{5}}-\d{{4}}|x?-?\d-\d{{4}}|x-\d{{4,5}}|\d{{4}}-\d\d-\d\d){_NO}",
    rf"{_NOT_AFTER}\d{{1,2}}(?P<dash>[-/])\d{{1,2}}(?P=dash)(?:\d{{4}}|\d\d){_NO}",
    rf"{_NOT_AFTER}(?!1/[234]{_NO}|[23]/[34]{_NO})(?:0?[1-9]|1[0-2])/[0-3]?\d(?!/){_NO}",
    # numbers: a unit is a word of its own, the ending of an ordinal or a decade is not
    rf"(?<=\$){_DIGITS}(?=[kKmMbBtT]{{1,2}}[nN]?{_NO})",
    rf"{_NOT_AFTER}{_DIGITS}(?=(?:{_UNIT}){_NO}|[ap]\.m{_NO})",
    rf"(?:{_NOT_AFTER}[+.])?{_DIGITS}(?:{_Q}?s|st|nd|rd|th){_NO}",
    rf"(?:{_NOT_AFTER}\+)?{_DIGITS}(?![.,:]?\d){_NO}|(?<![\w.])\.\d+{_NO}",
    rf"{_NOT_AFTER}['’](?:\d\ds?|em|n|til|cause|bout|cuz|tis|twas){_NO}",
    # abbreviations keep their dot here; at the end of a sentence it is taken from them
    rf"{_NOT_AFTER}(?:[^\W\d_]\.){{2,}}{_NO}|(?<![^\W\d_])(?:[^\W\d_]\.)+[^\W\d_]{_NO}",
    rf"{_NOT_AFTER}(?:{_ABBREVIATIONS}|[A-HJ-Z])\.(?!\.)",
    rf"{_NOT_AFTER}[A-Za-z]{{1,4}}&[A-Z]{{1,3}}{_NO}|{_NOT_AFTER}(?:US|U|HK)\$",
    rf"{_NOT_AFTER}(?:w/(?:o|out|in)?|b/c){_NO}|{_NOT_AFTER}[A-Za-z]+\*+[a-z]+{_NO}",
    # clitics, and words cut before them
    rf"(?<={_L})(?:[nN]{_Q}[tT]|{_Q}(?i:s|m|d|re|ve|ll)){_NO}",
    rf"{_L}+?(?=[nN]{_Q}[tT]{_NO})|(?i:y['’](?=all{_NO}))",
    # words with a hyphen inside, words with an apostrophe inside, other words
    rf"(?<![\w-])(?:[eE]-(?=[a-z]{{3}})|(?i:{_OPENING})-){_L}+",
    rf"{_NOT_AFTER}{_L}+-(?i:{_SUFFIX}){_NO}",
    rf"{_NOT_AFTER}(?!_){_L}+?(?:['’](?!(?i:s|m|d|re|ve|ll|t){_NO}){_L}+)+",
    rf"(?!_){_L}(?:{_L}*(?!_){_L})?",
    # runs of marks
    r"[.!?…]+|''|``|[‘’]{2}|>{2,}|<{2,}|,{2,}|[-=]+>|<-+(?!\w)|[-=*~_#+|<>{}]{6,}",
    r"(?P<mark>[-=*~_#+$])(?P=mark)+",
]


@cache
def _pattern(*, is_ascii: bool) -> re.Pattern[str]:
    """Compile the rules on first use: it takes 75 ms, those for ASCII text alone 5 ms."""
    rules, flags = _RULES, re.DOTALL
    if is_ascii:
        rules = [rule.replace(_L, r"\w") for rule in _RULES]
        rules = [rule for rule in rules if _HAN not in rule and _EMOJI not in rule]
        flags |= re.ASCII
    # Whatever no rule matches is a word of one character, so that nothing is lost.
    return re.compile("|".join(f"(?:{rule})" for rule in rules) + "|.", flags)


def word_ends(stretch: str) -> tuple[int, ...]:
    """Return the end of each word of text without blanks; the next word begins there."""
    return _cached_word_ends(stretch) if len(stretch) <= 40 else _word_ends(stretch)


def _word_ends(stretch: str) -> tuple[int, ...]:
    is_ascii = stretch.isascii()
    if is_ascii and stretch.isalpha():
        return (*_CUTS.get(stretch.lower(), ()), len(stretch))
    ends = []
    for match in _pattern(is_ascii=is_ascii).finditer(stretch):
        ends += [match.start() + cut for cut in _CUTS.get(match[0].lower(), ())]
        ends.append(match.end())
    return tuple(ends)


_cached_word_ends = lru_cache(maxsize=1 << 14)(_word_ends)
