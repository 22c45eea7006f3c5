import { connectHub, type NewMemory } from '@recall/client'
import { type KnownEcho, redactSensitive, withSafeEvidence } from '@recall/echoes'
import { addCounts } from '../../add-counts.ts'
import { describeSaved } from '../../describe-saved.ts'
import { exitCodes, UsageError } from '../../exit-codes.ts'
import { findHubAccess, withPlaceOfKey } from '../../hub-access.ts'
import { splitTags } from '../../split-tags.ts'
import { formatCounts } from '../../terminal/format.ts'
import { printable } from '../../terminal/printable.ts'
import { type EchoesOptions, type Project, print } from './project.ts'
import { echoOf } from './remembrance.ts'

/** Publishes one echo on the hub. First shows what would be sent and what was redacted and, without `--yes`, asks. */
export async function publish(
  project: Project,
  [reference]: string[],
  options: EchoesOptions,
): Promise<number> {
  const { io } = project
  const { echo } = await echoOf(project, reference)
  const { memory, redacted } = sharedOf(echo, options)
  const { url, 'key-file': keyFile } = options.texts
  const access = findHubAccess(io, { ...(url ? { url } : {}), ...(keyFile ? { keyFile } : {}) })
  if (!options.json || !options.yes) {
    const taken = formatCounts(redacted)
    io.err(printable(`${memory.content}\n\ntags: ${memory.tags.join(', ')}\n`))
    io.err(taken === '' ? 'Nothing had to be taken out.\n' : `Taken out: ${taken}.\n`)
  }
  const agreed =
    options.yes ||
    (!options.dryRun && (await project.askHuman(`Everybody on ${access.url} will be able to read this.`)))
  if (!agreed) {
    const answer = { published: false, hub: access.url, memory, redacted }
    print(io, options.json, answer, () => 'Nothing was sent. Run the same with --yes to publish it.\n')
    return options.dryRun ? exitCodes.fine : exitCodes.no
  }
  const hub = connectHub({ url: access.url, apiKey: access.apiKey })
  try {
    const saved = await hub.save(memory)
    const answer = { published: true, hub: access.url, memory, redacted, saved }
    print(io, options.json, answer, () => describeSaved('Published', saved))
    return exitCodes.fine
  } catch (error) {
    throw withPlaceOfKey(error, access)
  } finally {
    await hub.close()
  }
}

const mostTags = 6

function sharedOf(
  echo: KnownEcho,
  { texts }: EchoesOptions,
): { memory: NewMemory; redacted: Record<string, number> } {
  const { entry, stripped } = withSafeEvidence(echo.entry)
  const { kind, title, learning, evidence } = entry
  const { text, counts } = redactSensitive(
    `${kind === '' ? '' : `${kind}: `}${title}\n\n${learning}\n\nEvidence: ${evidence}`,
  )
  const given = splitTags(redactedWords(texts.tags ?? ''))
  const words =
    redactedWords(title)
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]{4,}/gu) ?? []
  const tags = given.length > 0 ? given : [...new Set([...words, ...(kind ? [kind.toLowerCase()] : [])])]
  if (tags.length < 2 || given.length > mostTags)
    throw new UsageError('the hub wants 2 to 6 tags: --tags redis,rate-limit')
  const redacted: Record<string, number> = { ...counts }
  addCounts(redacted, Object.fromEntries(stripped.map((kind) => [kind, 1])))
  return { memory: { content: text, tags: tags.slice(0, mostTags) }, redacted }
}

/** Redacts a text before it is split into tags: a secret would not be recognised in parts. */
const redactedWords = (text: string): string =>
  redactSensitive(text).text.replace(/\[redacted:[^\]]*\]/g, ' ')
