import { wordsOf } from '@recall/core'

/** Words that say nothing about a conversation's subject. */
const stopWords = new Set(
  `a about above actually add added adding after again all already also although always am an and another any anything are aren around as
at back be because been before being below best better between both but by call can cannot change changed changes check
code come could couldn create created current currently did didn different do does doesn doing don done down each either
else ensure error errors etc even ever every everything exactly example far few file files find first fix fixed following
for found from full function further get getting give given go goes going good got great had has have haven having he
hello help her here hers hey him his hold how however i if in instead into is isn issue it item its itself just keep know
last later least less let lets like line lines list ll long look looking looks made make makes making many may maybe me
mean means might mine more most much must my name need needed needs neither never new next no none nor not nothing now of
off often ok okay old on once one only open or other others our ours out over own part per perfect please possible
probably problem put question quite rather re read ready really right run running said same say says see seems set
several shall she should shouldn show shows since so some something soon start started still stop such sure take than
thank thanks that the their theirs them then there these they thing things think this those though three through time to
today together too took tool toward true try trying two type under understand until up update updated us use used user
uses using usually value very via want wants was wasn way we well went were weren what whatever when where whether which
while who whole whose why will with within without won work working works would wouldn write written yes yet you your
yours continue doesnt dont didnt isnt wasnt wont cant couldnt shouldnt wouldnt thats whats hey super git npm echo grep cat tail head cd ls sed awk sudo dev home bin usr tmp false null undefined const return import export string number`.split(
    /\s+/,
  ),
)

/** The same in German, French and Spanish, except for those that are English words as well. */
const foreignStopWords = new Set(
  `aber alle alles als also auch auf aus bei beim bitte dann danke das dass dein deine dem den denn der des dich diese
diesem diesen dieser dieses dir doch dort durch ein eine einem einen einer eines einfach etwas für gut habe haben hast ich
ihm ihn ihr ihre immer ist jetzt kann kannst kein keine können mach machen mehr mein meine meinen meiner mich mir mit muss
nach nicht nichts noch nochmal nur oder ohne passt schon sehr sein seine sich sie sind soll sollte über und uns unser viel
vom von warum weil welche wenn werden wie wieder wir wird wurde zum zur zwei
aux avec cette ces dans des elle est être fait faire les leur mais merci mes mon nous pas peux peut plus pour pourquoi
quand que quel quelle qui sont sur tout très une vous
algo aquí como cómo con cuando del desde donde ella eres esta está este esto están gracias hay los más muy para pero por
porque puedes qué quiero sin sobre también tengo tiene todo una uno ahora`.split(/\s+/),
)

const word = /\p{L}[\p{L}\p{M}\p{N}_-]{1,39}/gu
/** Scripts that are written without spaces, where a run of letters is many words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/u
/** Characters of one text that are counted: a pasted log says little about the subject. */
const longestText = 20_000

/** The text that replaced a secret. */
const placeholder = /\[redacted:[a-z0-9-]+\]/g

/** Adds up the weights of words, to name those that a conversation is about. */
export interface KeywordCounter {
  add(text: string, weight: number): void
  /**
   * The words of the greatest weight, at most `limit`, each in the form that weighs most: 'test' and 'tests' are one
   * word. A total weight of 1 is not enough.
   */
  top(limit: number): string[]
}

export function createKeywordCounter(): KeywordCounter {
  const weights = new Map<string, number>()
  let segmenter: Intl.Segmenter | undefined

  const count = (candidate: string, weight: number): void => {
    const keyword = candidate.toLowerCase().replace(/[_-]+$/, '')
    if (keyword.length < (unspaced.test(keyword) ? 2 : 3) || isIdentifier(keyword)) return
    if (stopWords.has(keyword) || foreignStopWords.has(keyword)) return
    weights.set(keyword, (weights.get(keyword) ?? 0) + weight)
  }

  return {
    add(text, weight) {
      for (const [found] of text.slice(0, longestText).replace(placeholder, ' ').matchAll(word)) {
        if (!unspaced.test(found)) count(found, weight)
        else {
          segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' })
          for (const { segment, isWordLike } of segmenter.segment(found))
            if (isWordLike) count(segment, weight)
        }
      }
    },
    top(limit) {
      const subjects = new Map<string, Weighed>()
      for (const [keyword, weight] of [...weights].sort(heaviestFirst)) {
        const stem = wordsOf(keyword)
          .map(({ term }) => term)
          .join(' ')
        const known = subjects.get(stem)
        if (known) known[1] += weight
        else subjects.set(stem, [keyword, weight])
      }
      return [...subjects.values()]
        .filter(([, weight]) => weight > 1)
        .sort(heaviestFirst)
        .slice(0, limit)
        .map(([keyword]) => keyword)
    },
  }
}

type Weighed = [keyword: string, weight: number]

/** Ties are broken by length, then by code unit, so that the result never depends on the order of texts. */
const heaviestFirst = ([a, x]: Weighed, [b, y]: Weighed): number =>
  y - x || b.length - a.length || (a < b ? -1 : 1)

/** Whether a word is a hash or a generated id, which repeat often and mean nothing. */
function isIdentifier(keyword: string): boolean {
  return /^[0-9a-f-]{7,}$/.test(keyword) || (keyword.length > 16 && /\d/.test(keyword))
}

/** Whether a text holds a word about its subject: a greeting or `continue` does not. */
export function hasSubject(text: string): boolean {
  const keywords = createKeywordCounter()
  keywords.add(text, 2)
  return keywords.top(1).length > 0
}
