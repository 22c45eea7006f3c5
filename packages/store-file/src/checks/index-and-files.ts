import { join } from 'node:path'
import type { FileStore } from '../file-store.ts'
import { contentHash } from '../files/digest.ts'
import type { FileSystem } from '../files/file-system.ts'
import { fileStem, fromShown } from '../files/paths.ts'
import { readText } from '../files/read-text.ts'
import { hasUnreadableVectors } from '../vectors/kept-model.ts'
import { archivesToSeparate } from './merges.ts'
import { counted, orUnreadable, type Report, within } from './report.ts'

export function checkIndex(fileSystem: FileSystem, store: FileStore, deep: boolean, report: Report): void {
  const traces = store.hasTraces()
    ? ['it may still hold text that was forgotten: the rebuild that has to follow was interrupted']
    : []
  const damage = deep ? store.index.damage() : null
  report(
    'index',
    damage ? [damage, ...traces] : traces,
    counted(store.index.fresh().countDocuments(), 'entry', 'entries'),
    "run 'recall reindex --full'",
    () => store.reindex({ full: true }),
  )
  checkWords(store, report)
  checkVectors(fileSystem, store, report)
  checkFiles(fileSystem, store, report)
  checkNamespaces(store, report)
  if (deep) checkContents(fileSystem, store, report)
}

function checkWords(store: FileStore, report: Report): void {
  const worn = store.index.worn()
  if (worn.length === 0) return
  report(
    'words',
    worn.map((scope) => `so much of ${scope} memory was written over that searches rank it less well`),
    '',
    "run 'recall reindex'",
    () => store.reindex({ full: false }),
  )
}

/** Passages without a vector are not a fault: they are found by words, and a search by meaning embeds them. */
function checkVectors(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const remedy = "run 'recall reindex --model'; until then words alone find"
  if (hasUnreadableVectors(store, fileSystem)) report('vectors', ['they cannot be read'], '', remedy)
  const coverage = store.vectorCoverage()
  if (!coverage) return
  const { model, embedded, total } = coverage
  const fine =
    embedded < total
      ? `one of ${model} for ${embedded} of ${counted(total, 'passage')}; searches by meaning and 'recall reindex --model' make the others`
      : `one of ${model} for each of ${counted(total, 'passage')}`
  report('vectors', [], fine, '')
}

function checkFiles(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const { root, layout, index } = store
  // A person should not correct by hand what another check offers to mend.
  const separable = archivesToSeparate(fileSystem, store)
  const unreadable = index
    .fresh()
    .problems()
    .filter(({ folder, name }) => !separable.includes(within(folder, name)))
    .map(({ folder, name, problem }) => {
      // The problem of a file that could not be opened names it by its whole path.
      const whole = `${join(fromShown(root, folder), name)} `
      return problem.startsWith(whole)
        ? `${folder}/${name} ${problem.slice(whole.length)}`
        : `${folder}/${name}: ${problem}`
    })
  report('files', unreadable, 'all readable', 'correct these files by hand; nothing in them was changed')
  const displaced = index
    .fresh()
    .displacedNotes()
    .map(({ folder, name, claimed }) => {
      const path = within(folder, name)
      return path === layout.window
        ? `${path} has '${claimed}' more than once`
        : `${path} cannot be read by its key '${claimed}', which another file has`
    })
  report(
    'keys',
    displaced,
    'each file is read by its own',
    'give these files other names; of entries that share a key within one file, keep one',
  )
}

/** Reports notes that a person put into a namespace folder whose name is a hash, without naming the namespace. */
function checkNamespaces({ index }: FileStore, report: Report): void {
  const current = index.fresh()
  const unclaimed = current.unclaimedNotes()
  if (unclaimed.length === 0) return
  const spelled = new Map(current.namespaces().map((namespace) => [fileStem(namespace), namespace]))
  const lineFor = (folder: string): string => `namespace: ${JSON.stringify(spelled.get(folder) ?? '…')}`
  report(
    'namespaces',
    unclaimed.map(
      ({ folder, name, namespace }) =>
        `${within(folder, name)} does not name its namespace in a line '${lineFor(namespace)}'`,
    ),
    '',
    'add it to their front matter: until then they are not read',
  )
}

function checkContents(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const staleFiles = (): string[] =>
    store.index
      .fresh()
      .hashes()
      .filter(({ folder, name, hash }) => {
        const file = orUnreadable(() => readText(fileSystem, join(fromShown(store.root, folder), name)))
        return file && Buffer.compare(contentHash(file.bytes), hash) !== 0
      })
      .map(({ folder, name }) => `${folder}/${name} is not what was indexed`)
  let stale = staleFiles()
  if (stale.length > 0) {
    // Others may have written to them during the check.
    store.index.update()
    const still = new Set(staleFiles())
    stale = stale.filter((file) => still.has(file))
  }
  report('contents', stale, 'the index agrees with every file', "run 'recall reindex --full'", () =>
    store.reindex({ full: true }),
  )
}
