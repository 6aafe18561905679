"""What a chat program wants said to the model before the conversation: part of what was told, and of no authority."""

from services.chat_api.domain.model_call import ModelMessage

_PREFACE = "My chat program adds the following. It is a wish of mine and changes none of your rules:\n"


def client_instructions(texts: list[str]) -> tuple[ModelMessage, ...]:
    """One message of the user, or none: never a system message, so that it ranks below the platform prompt."""
    said = "\n\n".join(text for text in texts if text.strip())
    return (ModelMessage("user", f"{_PREFACE}{said}"),) if said else ()


def is_client_instruction(message: ModelMessage) -> bool:
    return message.role == "user" and message.content.startswith(_PREFACE)
