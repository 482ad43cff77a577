"""A few hundred true facts of general knowledge, as question and answer pairs.

What it does: turns tables (capitals, opposites, plurals, Spanish words, ...) into pairs, all of
them deterministic, so that a question has exactly one right answer. What it does not: draw
documents.
"""

from specviz.zoo.corpus.words import with_article

CAPITALS = dict(
    pair.split(":")
    for pair in (
        "France:Paris,Italy:Rome,Germany:Berlin,Spain:Madrid,Norway:Oslo,Austria:Vienna,"
        "Portugal:Lisbon,Ireland:Dublin,Greece:Athens,Japan:Tokyo,Egypt:Cairo,Kenya:Nairobi,"
        "Peru:Lima,Cuba:Havana,Canada:Ottawa,Poland:Warsaw,Sweden:Stockholm,Finland:Helsinki,"
        "Hungary:Budapest,China:Beijing,Denmark:Copenhagen,Iceland:Reykjavik,Belgium:Brussels,"
        "Russia:Moscow,Ukraine:Kyiv,Romania:Bucharest,Bulgaria:Sofia,Serbia:Belgrade,"
        "Croatia:Zagreb,Turkey:Ankara,Iran:Tehran,Iraq:Baghdad,India:New Delhi,Nepal:Kathmandu,"
        "Thailand:Bangkok,Vietnam:Hanoi,Indonesia:Jakarta,Australia:Canberra,"
        "New Zealand:Wellington,Brazil:Brasilia,Argentina:Buenos Aires,Chile:Santiago,"
        "Colombia:Bogota,Mexico:Mexico City,Ecuador:Quito,Uruguay:Montevideo,Morocco:Rabat,"
        "Algeria:Algiers,Tunisia:Tunis,Ghana:Accra,Nigeria:Abuja,Senegal:Dakar,Lebanon:Beirut,"
        "Qatar:Doha,Mongolia:Ulaanbaatar,South Korea:Seoul,the Netherlands:Amsterdam,"
        "Slovakia:Bratislava,Latvia:Riga,Estonia:Tallinn,Lithuania:Vilnius,Malta:Valletta"
    ).split(",")
)
OPPOSITES = dict(
    pair.split(":")
    for pair in (
        "hot:cold,big:small,day:night,up:down,left:right,open:closed,old:young,new:old,fast:slow,"
        "happy:sad,rich:poor,light:dark,wet:dry,full:empty,hard:soft,high:low,long:short,"
        "strong:weak,thick:thin,wide:narrow,early:late,loud:quiet,clean:dirty,near:far,"
        "first:last,heavy:light,deep:shallow,sweet:sour,true:false,good:bad,inside:outside,"
        "summer:winter,north:south,east:west,love:hate,begin:end,buy:sell,win:lose,ask:answer,"
        "push:pull,give:take,friend:enemy,war:peace,black:white,cheap:expensive,brave:afraid"
    ).split(",")
)
COLOR_OF = dict(
    pair.split(":")
    for pair in (
        "snow:white,grass:green,blood:red,coal:black,milk:white,a lemon:yellow,a banana:yellow,"
        "a tomato:red,a carrot:orange,a frog:green,a raven:black,a swan:white,a flamingo:pink,"
        "an elephant:gray,a strawberry:red,a cucumber:green,a plum:purple,chocolate:brown,"
        "salt:white,a pumpkin:orange,a leaf:green,the sun:yellow,the sea:blue,a polar bear:white"
    ).split(",")
)
YOUNG = dict(
    pair.split(":")
    for pair in (
        "dog:puppy,cat:kitten,cow:calf,horse:foal,sheep:lamb,pig:piglet,hen:chick,duck:duckling,"
        "goat:kid,bear:cub,lion:cub,deer:fawn,goose:gosling,frog:tadpole,owl:owlet,"
        "kangaroo:joey,swan:cygnet"
    ).split(",")
)
SOUNDS = dict(
    pair.split(":")
    for pair in (
        "dog:barks,cat:meows,cow:moos,duck:quacks,sheep:bleats,lion:roars,frog:croaks,bee:buzzes,"
        "horse:neighs,owl:hoots,pig:grunts,wolf:howls,mouse:squeaks,snake:hisses"
    ).split(",")
)
LEGS = dict(
    pair.split(":")
    for pair in (
        "a spider:eight,a dog:four,a cat:four,a bird:two,a bee:six,a snake:no,an ant:six,"
        "a horse:four,a fish:no,a hen:two,a person:two,a crab:ten,a beetle:six,a cow:four"
    ).split(",")
)
PLURALS = dict(
    pair.split(":")
    for pair in (
        "mouse:mice,goose:geese,child:children,foot:feet,tooth:teeth,man:men,woman:women,wolf:wolves,"
        "leaf:leaves,sheep:sheep,fish:fish,knife:knives,loaf:loaves,baby:babies,box:boxes,"
        "city:cities,ox:oxen,berry:berries,story:stories,half:halves"
    ).split(",")
)
SPANISH = dict(
    pair.split(":")
    for pair in (
        "red:rojo,blue:azul,green:verde,yellow:amarillo,white:blanco,black:negro,dog:perro,cat:gato,"
        "house:casa,water:agua,bread:pan,book:libro,sun:sol,moon:luna,friend:amigo,day:día,"
        "night:noche,one:uno,two:dos,three:tres,four:cuatro,five:cinco,six:seis,seven:siete,"
        "eight:ocho,nine:nueve,ten:diez,milk:leche,fish:pez,tree:árbol,flower:flor,door:puerta,"
        "table:mesa,boy:niño,girl:niña,sea:mar,sky:cielo,good:bueno,big:grande,small:pequeño,"
        "thank you:gracias,please:por favor,yes:sí,good night:buenas noches,hello:hola"
    ).split(",")
)
TOOL_OF = dict(
    pair.split(":")
    for pair in (
        "baker:bread,shoemaker:shoes,tailor:clothes,clockmaker:clocks,potter:pots,jeweler:rings,"
        "carpenter:tables,poet:poems,painter:paintings,brewer:beer,weaver:cloth,blacksmith:horseshoes"
    ).split(",")
)
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = (
    "January February March April May June July August September October November December"
).split()
MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
SINGLE_FACTS = (
    ("What do bees make?", "Bees make honey."),
    ("How many days are in a week?", "There are seven days in a week."),
    ("What color is the sky?", "On a clear day the sky is blue."),
    ("What do cows drink?", "Cows drink water."),
    ("What do cows give us?", "Cows give us milk."),
    ("Where do fish live?", "Fish live in water."),
    ("How many months are in a year?", "There are twelve months in a year."),
    ("What do we call frozen water?", "Frozen water is called ice."),
    ("How many hours are in a day?", "There are 24 hours in a day."),
    ("How many minutes are in an hour?", "There are 60 minutes in an hour."),
    ("How many seconds are in a minute?", "There are 60 seconds in a minute."),
    ("How many letters are in the alphabet?", "The English alphabet has 26 letters."),
    ("How many sides does a triangle have?", "A triangle has three sides."),
    ("How many sides does a square have?", "A square has four sides."),
    ("How many sides does a hexagon have?", "A hexagon has six sides."),
    ("What is the largest ocean?", "The largest ocean is the Pacific."),
    ("What is the highest mountain?", "The highest mountain is Mount Everest."),
    ("What is the largest animal?", "The largest animal is the blue whale."),
    ("What is the fastest land animal?", "The fastest land animal is the cheetah."),
    ("What is the tallest animal?", "The tallest animal is the giraffe."),
    ("What is the largest planet?", "The largest planet is Jupiter."),
    ("Which planet do we live on?", "We live on the planet Earth."),
    ("What does the Earth go around?", "The Earth goes around the sun."),
    ("What goes around the Earth?", "The moon goes around the Earth."),
    ("Where does the sun rise?", "The sun rises in the east."),
    ("Where does the sun set?", "The sun sets in the west."),
    ("At what temperature does water boil?", "Water boils at 100 degrees Celsius."),
    ("At what temperature does water freeze?", "Water freezes at 0 degrees Celsius."),
    ("What do plants need to grow?", "Plants need light and water to grow."),
    ("What do we breathe?", "We breathe air."),
    ("What is paper made of?", "Paper is made of wood."),
    ("What is glass made of?", "Glass is made of sand."),
    ("What is bread made of?", "Bread is made of flour and water."),
    ("What is cheese made of?", "Cheese is made of milk."),
    ("What is wine made of?", "Wine is made of grapes."),
    ("What is chocolate made of?", "Chocolate is made of cocoa beans."),
    ("What do caterpillars become?", "Caterpillars become butterflies."),
    ("What do tadpoles become?", "Tadpoles become frogs."),
    ("What do pandas eat?", "Pandas eat bamboo."),
    ("What do rabbits eat?", "Rabbits eat grass and carrots."),
    ("What do squirrels eat?", "Squirrels eat nuts."),
    ("What does a thermometer measure?", "A thermometer measures temperature."),
    ("What does a clock show?", "A clock shows the time."),
    ("What do you use to write?", "You use a pen or a pencil to write."),
    ("Who wrote Emma?", "Jane Austen wrote Emma."),
    ("Who wrote Pride and Prejudice?", "Jane Austen wrote Pride and Prejudice."),
    ("Who wrote Hamlet?", "William Shakespeare wrote Hamlet."),
    ("How many colors does a rainbow have?", "A rainbow has seven colors."),
    ("How many fingers does a hand have?", "A hand has five fingers."),
    ("How many wheels does a bicycle have?", "A bicycle has two wheels."),
    ("How many strings does a violin have?", "A violin has four strings."),
    ("How many continents are there?", "There are seven continents."),
)


def all_facts() -> list[tuple[str, str]]:
    """All question and answer pairs, in a fixed order."""
    pairs = list(SINGLE_FACTS)
    for country, city in CAPITALS.items():
        pairs.append((f"What is the capital of {country}?", f"The capital of {country} is {city}."))
    for word, other in OPPOSITES.items():
        pairs.append((f"What is the opposite of {word}?", f"The opposite of {word} is {other}."))
    for thing, color in COLOR_OF.items():
        pairs.append((f"What color is {thing}?", f"{thing[0].upper()}{thing[1:]} is {color}."))
    for animal, young in YOUNG.items():
        pairs.append((f"What is a young {animal} called?", f"A young {animal} is a {young}."))
    for animal, sound in SOUNDS.items():
        who = with_article(animal)
        pairs.append((f"What sound does {who} make?", f"{who[0].upper()}{who[1:]} {sound}."))
    for animal, legs in LEGS.items():
        who = animal[0].upper() + animal[1:]
        pairs.append((f"How many legs does {animal} have?", f"{who} has {legs} legs."))
    for one, many in PLURALS.items():
        pairs.append((f"What is the plural of {one}?", f"The plural of {one} is {many}."))
    for english, spanish in SPANISH.items():
        pairs.append(
            (f"How do you say {english} in Spanish?", f"In Spanish, {english} is {spanish}.")
        )
    for job, ware in TOOL_OF.items():
        pairs.append((f"What does a {job} make?", f"A {job} makes {ware}."))
    return pairs + calendar_facts()


def calendar_facts() -> list[tuple[str, str]]:
    """Facts of days and months."""
    pairs = []
    for index, day in enumerate(DAYS):
        after, before = DAYS[(index + 1) % 7], DAYS[index - 1]
        pairs.append((f"Which day comes after {day}?", f"{after} comes after {day}."))
        pairs.append((f"Which day comes before {day}?", f"{before} comes before {day}."))
    for index, month in enumerate(MONTHS):
        after, days = MONTHS[(index + 1) % 12], MONTH_DAYS[index]
        pairs.append((f"Which month comes after {month}?", f"{after} comes after {month}."))
        pairs.append((f"How many days are in {month}?", f"There are {days} days in {month}."))
    return pairs
