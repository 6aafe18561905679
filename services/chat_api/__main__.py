"""`python -m services.chat_api`"""

from services.chat_api.main import run

run()
