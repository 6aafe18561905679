"""Function words and question words: they tell a language and carry no meaning of their own."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words("""
    a about after all also am an and any are as at be because been before being but by can could did do does doing
    for from had has have having he her here him his how i if in into is it its just let many may me more most much
    must my no not now of off on once one only or other our out over own please same shall she should so some such tell
    than that the their them then there these they this those through to too under until up us very was we were what
    when where which while who whom whose why will with would you your
""")

GERMAN = _words("""
    ab aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist bitte da
    damit dann das dass dein deine dem den denn der des dessen die dies diese diesem diesen dieser dieses doch dort du
    durch ein eine einem einen einer eines er es etwas euch für gegen habe haben hat hatte hatten hier hinter ich ihm
    ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist jede jeder jedes kann kannst können könnte man mein meine meinem
    meinen meiner mich mir mit muss müssen nach nicht noch nun nur ob oder ohne sehr sein seine seinem seinen seiner
    sich sie sind so soll sollen sollte sondern über um und uns unser unsere unter vom von vor war waren warum was
    welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieso wieviel wird wo woher wohin
    wurde wurden während viel viele zu zum zur zwischen
""")

RUSSIAN = _words("""
    а без бы был была были было быть в вам вас ваш ваша ваше ваши весь во вот все всего всех вы где да для до его ее
    если есть еще же за зачем и из или им их к как какая какие каким каких какого какое какой какую кем когда кого кому
    кто куда ли меня мне много может можно мой моя мое мои мы на над надо нам нас наш наша наше наши не него нее нет
    ни них но о об один он она они оно от откуда по под почему при про с сам свой свою себя сколько со так также такой
    там тем то того тоже той только том ты у уже чего чей чем чему что чтобы эта эти это этого этой этом этот я
    является
""")

# Bigrams of Chinese question phrases and particles.
CJK_BIGRAMS = _words("""
    什么 哪些 哪个 哪里 哪种 哪一 哪年 多少 少个 如何 怎么 怎样 为什 何时 是谁 是否 是什 有什 有多 有哪
    的是 么时 的时 时候 候是 一个 一种 个是 种是 们的 他们 我们 它们 这个 那个 请问 可以
""")

BY_LANGUAGE = {"en": ENGLISH, "de": GERMAN, "ru": RUSSIAN, "cjk": CJK_BIGRAMS, "other": frozenset[str]()}
