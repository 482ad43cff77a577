"""The scripts in the order they are joined, for the parts of the page and for exported pages."""

LANGUAGE = "specviz-language.js"
SCRIPTS = (
    LANGUAGE,
    "specviz-model.js",
    "specviz-step.js",
    "specviz-text.js",
    "specviz-strip.js",
    "specviz-chart.js",
    "specviz-figures.js",
    "specviz-tip.js",
    "specviz-player.js",
    "specviz-bar.js",
    "specviz-feed.js",
    "specviz-cursor.js",
    "specviz-inspector.js",
    "specviz-detail.js",
    "specviz-race.js",
    "specviz-share.js",
    "specviz-plots.js",
    "specviz.js",
)
LESSON = ("specviz-spot.js", "specviz-lesson.js")  # on the page only, behind the viewer
WORDS = (LANGUAGE, "specviz-words.js")
PARTS = {
    "viewer": (*SCRIPTS, *LESSON),
    "words": WORDS,
    "header": (*WORDS, "specviz-foreign.js"),
    "cards": (LANGUAGE, "specviz-picture.js", "specviz-cards.js"),
    "sheet": (LANGUAGE, "specviz-curves.js"),
}
