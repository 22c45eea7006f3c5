import { isRecord } from '../json.ts'
import { toInstant } from '../reading/instants.ts'
import { countInto } from '../reading/skipped.ts'
import { type ImportedMemory, type MemoryExport, text } from './imported-memory.ts'

const source = 'claude.ai'

/** The projects in an export of claude.ai; `null` when the value is not such an export. */
export const claudeProjects = (value: unknown): unknown[] | null =>
  Array.isArray(value) && value.some((item) => isRecord(item) && text(item.uuid) && Array.isArray(item.docs))
    ? value
    : null

/** Reads the documents and the instructions of each project. */
export function readClaudeProjects(projects: readonly unknown[]): MemoryExport {
  const skipped: Record<string, number> = {}
  const skip = countInto(skipped)
  const records = projects.flatMap((item): ImportedMemory[] => {
    const project = isRecord(item) ? item : {}
    const docs = Array.isArray(project.docs) ? project.docs : []
    const name = text(project.name)
    const toMemory = (id: string | undefined, title: string, said: unknown, time: unknown, type: string) => {
      const body = text(said)
      const at = toInstant(time) ?? toInstant(project.created_at)
      if (id === undefined || body === undefined) {
        skip('document without text or id')
        return []
      }
      return [
        {
          source,
          id: `${type}:${id}`,
          text: `# ${title}\n\n${body}`,
          tags: [],
          type,
          ...(name ? { project: name } : {}),
          ...(at ? { at } : {}),
        },
      ]
    }
    const template = text(project.prompt_template)
    return [
      ...(template
        ? toMemory(
            text(project.uuid),
            `Instructions of ${name ?? 'a project'}`,
            template,
            project.created_at,
            'instructions',
          )
        : []),
      ...docs.flatMap((doc) => {
        const { uuid, filename, content, created_at } = isRecord(doc) ? doc : {}
        return toMemory(text(uuid), text(filename) ?? 'Document', content, created_at, 'document')
      }),
    ]
  })
  return { format: 'claude.ai projects', records, skipped }
}
