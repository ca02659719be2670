"""The charset of pages that declare none: told by their bytes, and left where there is a doubt."""

import time

import pytest

from recrawl.crawler.fetch.charsets import CHARSETS, decode_body
from recrawl.crawler.fetch.undeclared import charset_by_bytes

JAPANESE = "この町の港には古い灯台があります。夕方になると、釣りをする人が集まってきます。"
CHINESE = "这个小城的港口有一座古老的灯塔，每到傍晚，许多人在岸边散步和钓鱼，孩子们在沙滩上玩耍。"
TAIWANESE = "這個小城的港口有一座古老的燈塔，每到傍晚，許多人在岸邊散步和釣魚，孩子們在沙灘上玩耍。"
KOREAN = "이 작은 도시의 항구에는 오래된 등대가 있습니다. 저녁이 되면 많은 사람들이 산책을 합니다."
RUSSIAN = "В этом маленьком городе есть старый маяк. Вечером многие гуляют по берегу и ловят рыбу."
UKRAINIAN = (
    "У цьому маленькому місті є старий маяк. Увечері багато людей гуляє берегом і ловить рибу."
)
BULGARIAN = "В този малък град има стар фар. Вечер много хора се разхождат по брега и ловят риба."

TOLD = [
    (JAPANESE, "cp932"), (JAPANESE, "euc_jp"), (CHINESE, "gb18030"), (TAIWANESE, "big5"),
    (KOREAN, "cp949"), (RUSSIAN, "cp1251"), (RUSSIAN, "koi8_u"), (UKRAINIAN, "cp1251"),
    (UKRAINIAN, "koi8_u"), (BULGARIAN, "cp1251"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "codec"), TOLD, ids=[f"{c}-{t[:2]}" for t, c in TOLD])
def test_a_page_that_declares_nothing_is_read_as_it_was_written(text: str, codec: str) -> None:
    """Amid markup, and where a letter of it was damaged on its way."""
    page = f"<html><title>{text[:9]}</title><p class=x>{text}<br>{text}</p>".encode(codec)

    assert decode_body(page, None).count(text) == 2
    assert charset_by_bytes(page * 20 + b"\xff\x20") == codec
    assert codec in CHARSETS, "a reader loads no other"


WESTERN = {
    "French": "Près de la forêt, l'été, où les élèves déjeunaient, ça coûtait très cher à Noël.",
    "German": "Schöne Grüße aus Köln: über die Brücke, größer, höher, für Bären, Äpfel und Öfen.",
    "Swedish": "Där låg en ö där båtar gick från ån; sjöfåglar på träd, två små hästar på ängen.",
    "Finnish": "Hyvää yötä! Tämä työ on jäänyt tekemättä, sää on kylmää ja äänetöntä.",
    "Portuguese": "Não há razões; as ações são às três, e a população já não está lá então.",
    "Spanish": "¿Qué pasó mañana? El niño comió piñones, ¡y después cantó una canción!",
    "Icelandic": "Það er kalt á Íslandi; fólkið þar á góðar ær, og sólin sést ekki í mánuð.",
    "names": "“Müller” — ‘Ångström’… «Café» £5 ½ ± 3 °C © ® ™ • Öl • Ärger • Übung",
    "arrows": "»»»» « ««« »» »»»» «««« »»»» ¤¤¤¤¤¤ ¤¤¤¤ ······ ···· ––––––––– ÀÀÀÀÀ",
    "shouted": "ÄÖÜ ÉÈÊ ÀÂ ÇÉ ÎÔ ÛÙ ÑÓ ÍÚ ÁÃ ÕÅ ÆØ ÄÖ ÜÄ ÉÀ ÈÇ",
    "spaces": "a\xa0\xa0\xa0\xa0b\xa0\xa0\xa0\xa0\xa0é\xa0\xa0c\xa0\xa0\xa0\xa0\xa0\xa0d",
}  # fmt: skip


@pytest.mark.parametrize("text", WESTERN.values(), ids=WESTERN)
@pytest.mark.parametrize("times", [1, 50])
def test_what_western_europe_writes_stays_as_it_is(text: str, times: int) -> None:
    """However much of it there is."""
    page = f"<p>{text}</p>\n" * times

    assert decode_body(page.encode("cp1252"), None) == page


OTHERS = [
    ("cp1253", "Σε αυτή τη μικρή πόλη υπάρχει ένας παλιός φάρος και πολλοί άνθρωποι ψαρεύουν."),
    ("cp1255", "בעיר הקטנה הזאת יש מגדלור ישן, ובערב אנשים רבים מטיילים לאורך החוף ודגים."),
    ("cp1256", "في هذه المدينة الصغيرة منارة قديمة، وفي المساء يتنزه كثير من الناس على الشاطئ."),
    ("cp874", "ในเมืองเล็กแห่งนี้มีประภาคารเก่า ตอนเย็นผู้คนมากมายเดินเล่นริมชายหาดและตกปลา"),
    ("iso8859_2", "Zażółć gęślą jaźń; příliš žluťoučký kůň úpěl ďábelské ódy; őrült árvíztűrő."),
    ("cp1254", "Şu küçük şehirde eski bir deniz feneri var; akşamları çoğu kişi yürüyüşe çıkıyor."),
    ("cp1257", "Šiame mažame mieste yra senas švyturys; vakarais daug žmonių vaikščioja pakrante."),
]


@pytest.mark.parametrize(("codec", "text"), OTHERS, ids=[codec for codec, _ in OTHERS])
def test_what_is_not_looked_for_is_taken_for_nothing_else(codec: str, text: str) -> None:
    """As a browser reads it, which people can undo."""
    assert charset_by_bytes(f"<p>{text}</p>\n".encode(codec) * 10) == "cp1252"


def test_little_tells_nothing() -> None:
    """Two words in kana may as well be signs."""
    assert charset_by_bytes("<p>港と灯台".encode("cp932")) == "cp1252"


def test_what_is_declared_is_believed() -> None:
    """By the page or by its server."""
    page = RUSSIAN.encode("koi8_r")

    assert decode_body(page, "koi8-r") == RUSSIAN
    assert decode_body(page, "iso-8859-1") == page.decode("cp1252", "replace")


def test_a_large_body_is_searched_once() -> None:
    """Four megabytes of any bytes; processor time, with much to spare."""
    began_s = time.process_time()
    for unit in (b"\xff", b"\x81\x40", b"a\xe9", "あ".encode("cp932"), b"\xb0\xa1 "):
        charset_by_bytes(unit * (4 * 2**20 // len(unit)))

    assert time.process_time() - began_s < 20.0
