/**
 * Folds texts for comparison without regard to case and accents (D126). The letter tables are here, because
 * newer runtimes and databases know more letters. The database's functions `lowered` and `fold` (the
 * migrations one-folding and accents) have the same tables.
 */

/**
 * Maps texts that differ only in the case of letters to the same text, with the same number of code points.
 */
export function lowered(text: string): string {
  if (isAscii.test(text)) return text.toLowerCase()
  let small = ''
  for (const letter of text) small += smallOf.get(letter) ?? letter
  return small
}

/** Maps texts that differ only in case, accents and invisible characters to the same text. */
export function fold(text: string): string {
  const small = lowered(text)
  if (isAscii.test(small)) return small
  let folded = ''
  for (const letter of small) folded += bareOf.get(letter) ?? letter
  return folded
}

const isAscii = /^[\0-\x7f]*$/

/**
 * Simple lower case of Unicode 17.0, with ς as σ, because both are the lower case of Σ. Each run has its
 * first letter, its last letter, a step, and the distance to the lower case: "100-12e/2:1" means that every
 * second letter from U+0100 to U+012E becomes the next one.
 */
const runs = `
  41-5a:32 c0-d6:32 d8-de:32 100-12e/2:1 130:-199 132-136/2:1 139-147/2:1 14a-176/2:1 178:-121 179-17d/2:1
  181:210 182-184/2:1 186:206 187:1 189-18a:205 18b:1 18e:79 18f:202 190:203 191:1 193:205 194:207 196:211
  197:209 198:1 19c:211 19d:213 19f:214 1a0-1a4/2:1 1a6:218 1a7:1 1a9:218 1ac:1 1ae:218 1af:1 1b1-1b2:217
  1b3-1b5/2:1 1b7:219 1b8:1 1bc:1 1c4:2 1c5:1 1c7:2 1c8:1 1ca:2 1cb-1db/2:1 1de-1ee/2:1 1f1:2 1f2-1f4/2:1
  1f6:-97 1f7:-56 1f8-21e/2:1 220:-130 222-232/2:1 23a:10795 23b:1 23d:-163 23e:10792 241:1 243:-195 244:69
  245:71 246-24e/2:1 370-372/2:1 376:1 37f:116 386:38 388-38a:37 38c:64 38e-38f:63 391-3a1:32 3a3-3ab:32
  3c2:1 3cf:8 3d8-3ee/2:1 3f4:-60 3f7:1 3f9:-7 3fa:1 3fd-3ff:-130 400-40f:80 410-42f:32 460-480/2:1
  48a-4be/2:1 4c0:15 4c1-4cd/2:1 4d0-52e/2:1 531-556:48 10a0-10c5:7264 10c7:7264 10cd:7264 13a0-13ef:38864
  13f0-13f5:8 1c89:1 1c90-1cba:-3008 1cbd-1cbf:-3008 1e00-1e94/2:1 1e9e:-7615 1ea0-1efe/2:1 1f08-1f0f:-8
  1f18-1f1d:-8 1f28-1f2f:-8 1f38-1f3f:-8 1f48-1f4d:-8 1f59-1f5f/2:-8 1f68-1f6f:-8 1f88-1f8f:-8 1f98-1f9f:-8
  1fa8-1faf:-8 1fb8-1fb9:-8 1fba-1fbb:-74 1fbc:-9 1fc8-1fcb:-86 1fcc:-9 1fd8-1fd9:-8 1fda-1fdb:-100
  1fe8-1fe9:-8 1fea-1feb:-112 1fec:-7 1ff8-1ff9:-128 1ffa-1ffb:-126 1ffc:-9 2126:-7517 212a:-8383 212b:-8262
  2132:28 2160-216f:16 2183:1 24b6-24cf:26 2c00-2c2f:48 2c60:1 2c62:-10743 2c63:-3814 2c64:-10727
  2c67-2c6b/2:1 2c6d:-10780 2c6e:-10749 2c6f:-10783 2c70:-10782 2c72:1 2c75:1 2c7e-2c7f:-10815 2c80-2ce2/2:1
  2ceb-2ced/2:1 2cf2:1 a640-a66c/2:1 a680-a69a/2:1 a722-a72e/2:1 a732-a76e/2:1 a779-a77b/2:1 a77d:-35332
  a77e-a786/2:1 a78b:1 a78d:-42280 a790-a792/2:1 a796-a7a8/2:1 a7aa:-42308 a7ab:-42319 a7ac:-42315
  a7ad:-42305 a7ae:-42308 a7b0:-42258 a7b1:-42282 a7b2:-42261 a7b3:928 a7b4-a7c2/2:1 a7c4:-48 a7c5:-42307
  a7c6:-35384 a7c7-a7c9/2:1 a7cb:-42343 a7cc-a7da/2:1 a7dc:-42561 a7f5:1 ff21-ff3a:32 10400-10427:40
  104b0-104d3:40 10570-1057a:39 1057c-1058a:39 1058c-10592:39 10594-10595:39 10c80-10cb2:64 10d50-10d65:32
  118a0-118bf:32 16e40-16e5f:32 16ea0-16eb8:27 1e900-1e921:34
`

/** Each letter that has a lower case → its lower case. */
export const smallOf: ReadonlyMap<string, string> = new Map(
  [...runs.matchAll(/([0-9a-f]+)(?:-([0-9a-f]+))?(?:\/(\d))?:(-?\d+)/g)].flatMap(
    ([, first, last, step, distance]) =>
      numbers(Number.parseInt(first!, 16), Number.parseInt(last ?? first!, 16), Number(step ?? 1)).map(
        letter => [String.fromCodePoint(letter), String.fromCodePoint(letter + Number(distance))],
      ),
  ),
)

/**
 * Combining marks of Latin, Greek and Cyrillic letters. Marks that strike a sign through are not among them:
 * they make another sign.
 */
const marks = '300-333 339-36f'

/** Invisible characters: Unicode 17.0's Default_Ignorable_Code_Point. */
const unseenRuns = `
  ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e 2060-206f 3164 fe00-fe0f feff ffa0 fff0-fff8
  1bca0-1bca3 1d173-1d17a e0000-e0fff
`

/** Precomposed letters in lower case, and letters with a common substitute on keyboards. */
const accents = `
  a:àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ ae:æǣǽ b:ḃḅḇ c:çćĉċčḉ d:đďḋḍḏḑḓ e:èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ f:ḟ
  g:ĝğġģǧǵḡ h:ħĥȟḣḥḧḩḫẖ i:ıìíîïĩīĭįǐȉȋḭḯỉị j:ĵǰ k:ķǩḱḳḵ l:łĺļľḷḹḻḽ m:ḿṁṃ n:ñńņňǹṅṇṉṋ
  o:øòóôõöōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ oe:œ p:ṕṗ r:ŕŗřȑȓṙṛṝṟ s:ſśŝşšșṡṣṥṧṩẛ ss:ß t:ŧţťțṫṭṯṱẗ
  u:ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự v:ṽṿ w:ŵẁẃẅẇẉẘ x:ẋẍ y:ýÿŷȳẏẙỳỵỷỹ z:źżžẑẓẕ ʒ:ǯ
  α:άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ ε:έἐἑἒἓἔἕὲέ η:ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ ι:ΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ
  ο:όὀὁὂὃὄὅὸό ρ:ῤῥ υ:ΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ ω:ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ ϒ:ϓϔ а:ӑӓ г:ѓ е:ѐёӗ ж:ӂӝ з:ӟ
  и:йѝӣӥ к:ќ о:ӧ у:ўӯӱӳ ч:ӵ ы:ӹ э:ӭ і:ї ѵ:ѷ ә:ӛ ө:ӫ 𐗒:𐗉 𐗚:𐗤
`

/** A run of invisible characters. */
export const unseen: RegExp = new RegExp(`[${lettersOf(unseenRuns).join('')}]+`, 'gu')

/** Each lower-case letter that `fold` changes → its replacement. */
export const bareOf: ReadonlyMap<string, string> = new Map([
  ...[...lettersOf(marks), ...lettersOf(unseenRuns)].map((letter): [string, string] => [letter, '']),
  ...[...accents.matchAll(/(\S+):(\S+)/gu)].flatMap(([, bare, letters]) =>
    [...letters!].map((letter): [string, string] => [letter, bare!]),
  ),
])

function lettersOf(ranges: string): string[] {
  return ranges.match(/\S+/g)!.flatMap(range => {
    const [first, last] = range.split('-').map(digits => Number.parseInt(digits, 16))
    return numbers(first!, last ?? first!, 1).map(letter => String.fromCodePoint(letter))
  })
}

function numbers(first: number, last: number, step: number): number[] {
  return Array.from({ length: (last - first) / step + 1 }, (_, index) => first + index * step)
}
