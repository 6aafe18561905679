"""`python -m services.trace_writer`"""

from services.trace_writer.main import run

run()
