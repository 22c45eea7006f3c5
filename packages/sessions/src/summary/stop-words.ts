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

/** The same in other languages, except for those that are English words as well. */
const foreignStopWords = new Set(
  `aber alle alles als also auch auf aus bei beim bitte dann danke das dass dein deine dem den denn der des dich diese
diesem diesen dieser dieses dir doch dort durch ein eine einem einen einer eines einfach etwas für gut habe haben hast ich
ihm ihn ihr ihre immer ist jetzt kann kannst kein keine können mach machen mehr mein meine meinen meiner mich mir mit muss
nach nicht nichts noch nochmal nur oder ohne passt schon sehr sein seine sich sie sind soll sollte über und uns unser viel
vom von warum weil welche wenn werden wie wieder wir wird wurde zum zur zwei
aux avec cette ces dans des elle est être fait faire les leur mais merci mes mon nous pas peux peut plus pour pourquoi
quand que quel quelle qui sont sur tout très une vous
algo aquí como cómo con cuando del desde donde ella eres esta está este esto están gracias hay los más muy para pero por
porque puedes qué quiero sin sobre también tengo tiene todo una uno ahora
agora ainda aos até cada corrigir depois dessa desse desta deste devo ela elas ele eles entre então essa esse estamos
estou estás estão faz fazer foi foram isso isto mas mesmo meu mim minha muita muito nossa nosso não nós obrigada
obrigado olá onde pela pelo pode podemos posso precisa precisamos preciso quais qual quem quero ser seu sua são também
tem tenho ter toda todas todos tudo têm uma vamos você vocês
abbiamo adesso agli alla allora anche ancora avere ciao correggere cosa così dalla degli della delle dello deve
dobbiamo dopo dovrebbe essere essi fatto favore gli grazie hanno invece loro mentre mio molti molto negli nel nella
nelle noi nostra nostro ogni oppure perché però più poi possiamo potrebbe puoi può quale quali quando quella quelli
quello questa queste questi questo quindi sempre senza siamo siete sono stata stato sul sulla suo tra tutte tutti
tutto voglio vorrei vuoi
без более больше будем будет будут был была были было быть вам вами вас ваш ваша ваше ваши весь вместо возможно вот
все всегда всего всем всех всё где давай давайте даже делает делать для должен должна должно должны другие другой его
если есть еще ещё здесь или именно иногда исправить исправь исправьте как какая какие каким какого какое какой когда
код конечно кроме кто куда лишь лучше между меньше меня мне мной мог могу могут мое можем может можно мои мой моя моё
надо нам нами нас наш наша наше нашего нашей нашему наши нашим наших него нее ней нет неё никогда ним них ничего нужен
нужна нужно нужны один одна однако одно она они оно опять откуда очень ошибка ошибки перед под пожалуйста пока помоги
помогите понятно после потом потому почему почти поэтому при привет про проблема проблему просто раз сам сами своего
свои своих свой сделай сделать себя сейчас снова спасибо так такая также такие такое такой там тебе тебя тем теперь
тогда того тоже той только том тот тут уже файл файла хорошо хотел хочет хочу чего чем через что чтобы эта эти этим
этих это этого этой этом этому этот эту
一下 一个 一些 一個 一样 一次 一直 一起 不会 不是 不用 不知道 不能 不要 不过 两个 为了 为什么 之前 之后 之後 也是 什么
什麼 今天 他们 他們 代码 以前 以及 以后 但是 你们 你們 你好 使用 修复 修復 修改 全部 兩個 关于 其中 其他 其实 其實
再次 出现 刚才 剛才 办法 却是 发现 另外 只是 只有 只要 可以 可是 可能 哪个 哪些 哪裡 哪里 問題 因为 因此 因為 大家
她们 她們 好的 如何 如果 它们 完成 对于 就是 已經 已经 希望 帮忙 帮我 幫忙 幫我 并且 应该 开始 当然 很多 得到 必须
怎么 怎么办 怎么样 怎样 怎樣 怎麼 怎麼樣 怎麼辦 您好 想要 應該 成为 我们 我們 或者 所以 所有 按照 接着 文件 无法 时候
明天 昨天 是不是 是否 時候 更改 最后 有些 有没有 根据 检查 檔案 檢查 正在 每个 沒有 没有 添加 為了 為什麼 無法 然后
然而 现在 現在 由于 當然 目前 直接 看到 看看 真的 知道 确认 確認 程式碼 繼續 继续 而且 能不能 能够 能夠 自己 虽然 覺得
觉得 許多 認為 請問 謝謝 认为 许多 请问 谢谢 还是 还有 这个 这么 这些 这是 这样 这种 这里 进行 這些 這個 這是 這樣
這裡 這麼 通过 進行 還是 還有 那个 那么 那些 那個 那是 那样 那樣 那裡 那里 那麼 部分 錯誤 错误 開始 關於 问题 随后
需要 非常 首先 麻烦 麻煩
ありがとう いつも お願い お願いします ください けれども こちら これから こんにちは こんばんは さっき すみません そちら そのまま
それから それとも たくさん たとえば ちょっと できない できました できます でしょう ところが とりあえず どうして どうやって
どちら どのよう どのように なければ ならない ましょう もう一度 もちろん よろしく わたし エラー コード ファイル 一つ 一度
下さい 今回 今日 何か 何も 何故 作成 使い 使う 使って 使用 修正 僕たち 全て 全部 出来 出来る 分かり 分かる 前回 問題
場合 変更 必要 思い 思う 思って 教え 教えて 方法 明日 昨日 更新 最初 最後 次に 確認 私たち 続け 続けて 自分 追加 違い
違う 開始
감사합니다 그건 그것 그것은 그냥 그래서 그러나 그러면 그런 그런데 그럼 그렇게 그리고 나는 내가 너무 누가 다시 다음 당신
대한 대해 대해서 되나요 됩니다 때문에 또는 많은 매우 먼저 모두 모든 무엇 무엇을 문제 문제가 문제를 방법 방법을
부탁드립니다 부탁합니다 수정 수정해 수정해야 아니라 아주 안녕하세요 알려주세요 어디 어디에 어디에서 어떤 어떻게 언제 없는
없습니다 없어요 에서 오늘 오류가 왜냐하면 우리 우리가 우리는 위해 위해서 이건 이것 이것은 이것을 이런 이렇게 이제 있나요
있는 있습니다 있어요 있을까요 저는 저희 정말 제가 주세요 지금 처음 필요 필요가 필요합니다 하고 하나요 하는 하려면 하면
하지만 한번 합니까 합니다 항상 해야 해요 해주세요 했습니다 확인 확인해 확인해야`.split(/\s+/),
)

/** Japanese particles and endings: a word for a subject is rarely this short without another script in it. */
const shortHiragana = /^\p{Script=Hiragana}{1,3}$/u

/** Whether a word in lower case says nothing about a subject, in any of the languages known here. */
export const isStopWord = (word: string): boolean =>
  stopWords.has(word) || foreignStopWords.has(word) || shortHiragana.test(word)
