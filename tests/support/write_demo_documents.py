"""`python -m tests.support.write_demo_documents`: the pages of the demo handbook that are no text files."""

from pathlib import Path

import services.knowledge_store
from tests.support.document_files import Part, make_docx, make_pdf

DEMO_CORPUS = Path(services.knowledge_store.__file__).parent / "demo_corpus"

_PRESSURE_POINTS = """Sensor | Points | Reference | Largest deviation
PX-40/10 | 6 | piston gauge PG-2 | 0.025 bar
PX-40/100 | 6 | piston gauge PG-2 | 0.25 bar
PX-40/600 | 8 | piston gauge PG-5 | 1.5 bar"""
_CALIBRATION = (
    Part("title", "Calibration in the laboratory"),
    Part("text", "Valid from 1 June 2026. Owner: Anna Varga, Engineering."),
    Part("heading1", "Before you begin"),
    Part("text", "The laboratory is kept at 23.0 degrees. A sensor rests there for at least 4 hours beforehand."),
    Part("text", "Only people with the certificate K2 sign a calibration; the certificate is renewed every two years."),
    Part("heading1", "Humidity sensors"),
    Part("bullet", "Measure at 11, 33, 55, 75 and 90 % relative humidity, each for 40 minutes."),
    Part("bullet", "Go up and then down, so that hysteresis shows."),
    Part("bullet", "Repeat a point whose value moves by more than 0.2 % within ten minutes."),
    Part("text", "A humidity sensor passes when no point is off by more than 1.2 %."),
    Part("heading1", "Pressure sensors"),
    Part("text", "A pressure sensor is loaded three times to its full range before the first value is taken."),
    Part("table", _PRESSURE_POINTS),
    Part("heading1", "References"),
    Part("text", "The piston gauges are sent to the national institute every two years, next in April 2027."),
    Part("text", "The dew point mirror DM-1 is compared with DM-2 every Monday; above 0.1 degrees all work stops."),
    Part("heading1", "Certificates"),
    Part("text", "A certificate is made on the day of the last measurement and carries a number like HK-2026-00001."),
    Part("text", "Copies are kept for 15 years. A wrong certificate is withdrawn and never overwritten."),
)

_HEAD = "Halden Instruments, working safely in the workshop"
_SAFETY = (
    (
        _HEAD,
        "Working safely in the workshop",
        "Valid from 1 April 2026. Owner: Olga Petrenko, Operations.",
        "Safety shoes and glasses are worn everywhere behind the yellow line. Ear pro-",
        "tection is worn at the presses and wherever a blue sign hangs. Rings and long",
        "sleeves are taken off before a machine is switched on.",
        "The presses P1 to P4 may be used only after a course of two days.",
        "A machine that is repaired is locked with a personal padlock, and only its",
        "owner takes the padlock off.",
        "The crane lifts at most 2,000 kilograms, and nobody stands under a load.",
        "Page 1 of 3",
    ),
    (
        _HEAD,
        "Dangerous substances",
        "Solvents are filled only under the hood in room 1.07. At most five litres",
        "stand at a workplace. Containers carry a label with name, danger and date.",
        "Soldering stations have a suction that is tested every six months.",
        "Skin that was splashed is rinsed with water for 15 minutes.",
        "Compressed gas bottles are chained to the wall, also when they are empty.",
        "Page 2 of 3",
    ),
    (
        _HEAD,
        "In an emergency",
        "The red buttons stop all machines of a hall at once. Whoever presses one is",
        "never blamed for it.",
        "First-aiders of the workshop are Jonas Brandt, Mei Tanaka and Luis Ferro.",
        "Fire extinguishers hang at each door; for burning metal take the yellow one.",
        "In 2025 there were 3 accidents with lost days, after 7 in 2024.",
        "Near misses are written on the green cards and discussed every Thursday.",
        "Page 3 of 3",
    ),
)


def demo_documents() -> dict[str, bytes]:
    """Contents by path within the demo corpus."""
    return {
        "engineering/calibration.docx": make_docx(_CALIBRATION, title="Calibration in the laboratory"),
        "facilities/workshop-safety.pdf": make_pdf(_SAFETY, title="Working safely in the workshop"),
    }


if __name__ == "__main__":
    for path, content in demo_documents().items():
        (DEMO_CORPUS / path).write_bytes(content)
