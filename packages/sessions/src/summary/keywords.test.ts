import { expect, it } from 'vitest'
import { createKeywordCounter, hasSubject } from './keywords.ts'

function topOf(...texts: [string, number][]) {
  const counter = createKeywordCounter()
  for (const [text, weight] of texts) counter.add(text, weight)
  return counter.top(5)
}

it('names the words that weigh most, without stop words, ids and chance words', () => {
  expect(topOf(['please fix the middleware because the middleware and auth break', 3])).toEqual([
    'middleware',
    'break',
    'auth',
  ])
  expect(topOf(['once', 1])).toEqual([])
  expect(topOf(['commit 258c7280ae70 deadbeef feed-beef build_2026_11_27_xyz', 3])).toEqual(['commit'])
  expect(topOf(['decaffeinated utf8 x-ray__', 3])).toEqual(['decaffeinated', 'x-ray', 'utf8'])
})

it('lets tool targets and the person outweigh the assistant', () => {
  expect(topOf(['kettle kettle', 1], ['src/pool.ts', 2], ['leak', 3]).slice(0, 2)).toEqual(['leak', 'kettle'])
  expect(topOf(['pool pool', 2], ['noise noise noise', 1])).toEqual(['pool', 'noise'])
})

it('counts the forms of a word together, and names the one that weighs most', () => {
  expect(topOf(['pool pools leaks', 1], ['leak kettle', 1], ['pools', 2], ['leaking', 3])).toEqual([
    'leaking',
    'pools',
  ])
  expect(topOf(['spoon spoons', 1])).toEqual(['spoons'])
})

it('reads scripts with accents and scripts without spaces', () => {
  expect(topOf(['résumé müller résumé', 3])).toEqual(['résumé', 'müller'])
  expect(topOf(['数据库 迁移 数据库', 3])).toEqual(expect.arrayContaining(['数据', '迁移']))
})

it('leaves out what stands where secrets were', () => {
  const counter = createKeywordCounter()
  for (let i = 0; i < 5; i++) counter.add('the bucket [redacted:aws-key-id] and the walrus', 1)
  expect(counter.top(5).sort()).toEqual(['bucket', 'walrus'])
})

it('leaves out the words of other languages that say nothing', () => {
  expect(topOf(['Mach mir bitte einen Plan für meine Abgabe', 3])).toEqual(['abgabe', 'plan'])
  expect(topOf(['Pourquoi les tuiles sont bleues', 3])).toEqual(['bleues', 'tuiles'])
  expect(topOf(['porque está roto el tejado', 3])).toEqual(['tejado', 'roto'])
})

it.each([
  ['Portuguese', 'Por que o pool de conexões vaza? Você pode corrigir isso para mim?', 'conexões pool vaza'],
  ['Italian', 'Perché il pool di connessioni perde? Puoi correggere questo?', 'connessioni perde pool'],
  [
    'Russian',
    'Почему переполняется пул соединений? Нам нужно это исправить для всех.',
    'переполняется соединений пул',
  ],
  ['Chinese', '连接池一直泄漏，应该怎么修复？我们需要检查为什么会这样。谢谢', '泄漏 连接'],
  ['traditional Chinese', '應該怎麼修復？我們需要檢查為什麼會洩漏，請繼續。謝謝', '洩漏'],
  [
    'Japanese',
    'データベースの接続がいつも枯渇してしまいます。どうすればいいですか？修正した方がいいと思います。教えてください。',
    'データベース 接続 枯渇',
  ],
  [
    'Korean',
    '데이터베이스 연결이 왜 고갈되는지 어떻게 확인해야 합니까? 우리는 그리고',
    '데이터베이스 고갈되는지 연결이',
  ],
])('names what a conversation in %s is about', (_, text, subjects) => {
  expect(topOf([text, 3])).toEqual(subjects.split(' '))
})

it('finds no subject in a greeting or in what tells to go on, in other scripts', () => {
  for (const text of ['继续。谢谢！', 'ありがとうございました。続けてください。', 'Привет! Спасибо, давай.'])
    expect(hasSubject(text)).toBe(false)
  expect(hasSubject('连接池泄漏')).toBe(true)
})
