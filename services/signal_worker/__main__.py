"""`python -m services.signal_worker`"""

from services.signal_worker.main import run

run()
