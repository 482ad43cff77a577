"""Thirty prompts of different kinds: the models' own genres, others, and hostile text."""

IN_DOMAIN = (
    "Write a story about a brave fox named Lila.",
    "Write a story about an old sailor named Otto.",
    "Tell me a story about Nora the rabbit.",
    "Write a recipe for winter soup.",
    "Write a recipe for quick pancakes.",
    "User: What is the capital of Greece?\nAssistant:",
    "User: Hello, my name is Karl.\nAssistant:",
    "User: What is 7 plus 12?\nAssistant:",
    "Rewrite the text. Change Lila to Rosa.\n\nText: Lila had a white coin, and she took it "
    "everywhere. It was a windy day when Lila saw that the coin was gone.\n\nNew text:",
    "Turn the text into JSON.\n\nText: Nora, 35, works as a painter in Oslo and has a cat."
    "\n\nJSON:",
    "Summarize the story.\n\nStory: Once upon a time there was a kind owl named Ben. Ben lived "
    "near the river and loved his silver bell more than anything else.\n\nSummary:",
    "Read the text and answer the questions.\n\nText: Mia the fox had a red drum.\n\n"
    "Q: Who is Mia?\nA:",
    "Write the table of 7.",
    "Count from 3 in steps of 4.",
    "Solve the sums.\n\n12 + 7 = ",
    "Write a Python function that computes the sum of a list.",
    "Write a Python function that reverses a word.",
)
OUT_OF_DOMAIN = (
    "a",
    "The",
    "It is a truth universally acknowledged, that",
    "SELECT name FROM users WHERE id = 1;",
    "one two three one two three one two three one two",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "  two  spaces  and\ttabs\n\n\n",
)
HOSTILE = (
    "<script>alert(1)</script></div>",
    "${window.x=1} {{7*7}} __i18n__",
    "naïve – “quoted” \u202eright to left\u202c",
    "\U0001f98a\U0001f47b emoji and 你好，世界",
    "NUL \x00 and bell \x07",
    "<|endoftext|>",
)
PROMPTS = IN_DOMAIN + OUT_OF_DOMAIN + HOSTILE
assert len(PROMPTS) == len(set(PROMPTS)) == 30
