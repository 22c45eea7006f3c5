import ts from 'typescript'

export const parse = (path: string, text: string): ts.SourceFile =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)

/** Every node below one, parents first. */
export function nodesIn(node: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = []
  const visit = (child: ts.Node): void => {
    nodes.push(child)
    ts.forEachChild(child, visit)
  }
  ts.forEachChild(node, visit)
  return nodes
}

/** The same of a text that holds certain words; most hold none of them, and to parse them all takes long. */
const nodesWith = (words: RegExp, path: string, text: string): ts.Node[] =>
  words.test(text) ? nodesIn(parse(path, text)) : []

/** `env` of `process.env` and of `process['env']`. */
function memberOf(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return node.name.text
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression))
    return node.argumentExpression.text
  return undefined
}

/** `each`, `skip` and `it` of `it.skip.each`, and `mkdir` of `mkdir(path)`: the names of a chain, last first. */
function chainOf(node: ts.Node): string[] {
  if (ts.isIdentifier(node)) return [node.text]
  if (ts.isCallExpression(node)) return chainOf(node.expression)
  const member = memberOf(node)
  if (member === undefined) return []
  return [member, ...chainOf((node as ts.PropertyAccessExpression | ts.ElementAccessExpression).expression)]
}

/** The values of the members of an object that is written out. */
const membersOf = (node: ts.Node): Map<string, ts.Expression> =>
  new Map(
    ts.isObjectLiteralExpression(node)
      ? node.properties.flatMap((property): [string, ts.Expression][] => {
          if (ts.isShorthandPropertyAssignment(property)) return [[property.name.text, property.name]]
          if (!ts.isPropertyAssignment(property)) return []
          const { name } = property
          return ts.isIdentifier(name) || ts.isStringLiteralLike(name)
            ? [[name.text, property.initializer]]
            : []
        })
      : [],
  )

/** Calls that make folders with Node's own way of making those above them. */
export const recursiveFolders = (path: string, text: string): string[] =>
  nodesWith(/\bmkdir/, path, text)
    .filter(ts.isCallExpression)
    .filter(({ expression }) => /^mkdir(?:Sync)?$/.test(chainOf(expression)[0] ?? ''))
    .filter(({ arguments: given }) => given.some((argument) => membersOf(argument).has('recursive')))
    .map((call) => `${path}: ${call.expression.getText()}`)

/** The first is a constant, set when the command is bundled; the second is the only switch of a native library. */
const noSettings = ['process.env.RECALL_VERSION', 'process.env.ORT_DISABLE_TELEMETRY']

const isSetting = (name: string | undefined): boolean => name === 'env' || name === 'argv'
const isProcess = (node: ts.Node | undefined): boolean =>
  node !== undefined && ['process', 'globalThis.process'].includes(node.getText())

/** Where the environment or the arguments are read. */
export const processReads = (path: string, text: string): string[] =>
  nodesWith(/\bprocess\b/, path, text)
    .filter((node) => readsMember(node) || takesApart(node) || importsSettings(node))
    .map((node) => `${path}: ${node.getText()}`)

const readsMember = (node: ts.Node): boolean =>
  (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) &&
  isSetting(memberOf(node)) &&
  isProcess(node.expression) &&
  !noSettings.includes(node.parent.getText())

/** `const { env } = process`, also as a parameter's default and in an assignment. */
function takesApart(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node) && ts.isObjectLiteralExpression(node.left))
    return isProcess(node.right) && [...membersOf(node.left).keys()].some(isSetting)
  if (!ts.isVariableDeclaration(node) && !ts.isParameter(node)) return false
  if (!ts.isObjectBindingPattern(node.name) || !isProcess(node.initializer)) return false
  return node.name.elements.some(
    ({ name, propertyName, dotDotDotToken }) =>
      dotDotDotToken !== undefined || isSetting((propertyName ?? name).getText().replace(/^'|'$/g, '')),
  )
}

/** Of the module, what has another name than `process` could not be followed. */
function importsSettings(node: ts.Node): boolean {
  if (!ts.isImportDeclaration(node) || !/^['"](?:node:)?process['"]$/.test(node.moduleSpecifier.getText()))
    return false
  const { name, namedBindings } = node.importClause ?? {}
  if (name && name.text !== 'process') return true
  if (namedBindings && ts.isNamespaceImport(namedBindings)) return namedBindings.name.text !== 'process'
  return (namedBindings?.elements ?? []).some(({ name, propertyName }) => {
    const imported = (propertyName ?? name).text
    return isSetting(imported) || imported === 'default'
  })
}

const isOfTest = (node: ts.Node): boolean =>
  ['it', 'test', 'describe', 'suite'].includes(chainOf(node).at(-1) ?? '')
const silently = ['only', 'skip', 'todo', 'fails']

/** Where tests are left out whatever happens. */
export const leftOutTests = (path: string, text: string): string[] =>
  nodesWith(/\b(?:only|skip|todo|fails)\b/, path, text)
    .filter((node) => isLeftOut(node) || skipsInSilence(node))
    .map((node) => `${path}: ${node.getText().split('\n')[0]}`)

function isLeftOut(node: ts.Node): boolean {
  if (silently.includes(memberOf(node) ?? '')) return isOfTest(node)
  return optionsOf(node).some(({ kind }) => kind === ts.SyntaxKind.TrueKeyword)
}

/** `ctx.skip()`, and `skip()` where that is taken from the context: what it is given as a note is shown. */
const skipsInSilence = (node: ts.Node): boolean =>
  ts.isCallExpression(node) &&
  chainOf(node.expression)[0] === 'skip' &&
  !isOfTest(node.expression) &&
  !node.arguments.some((argument) => ts.isStringLiteralLike(argument) || ts.isTemplateExpression(argument))

/** What `{ skip: … }` says, in a call that declares tests. */
const optionsOf = (node: ts.Node): ts.Expression[] =>
  ts.isCallExpression(node) && isOfTest(node.expression)
    ? node.arguments.flatMap((argument) =>
        [...membersOf(argument)].filter(([name]) => silently.includes(name)).map(([, value]) => value),
      )
    : []

/** What decides whether tests are left out. */
export const conditionsOf = (source: ts.SourceFile): ts.Expression[] =>
  nodesIn(source).flatMap((node) => {
    const isConditional =
      ts.isCallExpression(node) &&
      isOfTest(node.expression) &&
      ['skipIf', 'runIf'].includes(memberOf(node.expression) ?? '')
    if (isConditional) return [...node.arguments]
    return optionsOf(node).filter(
      ({ kind }) => kind !== ts.SyntaxKind.TrueKeyword && kind !== ts.SyntaxKind.FalseKeyword,
    )
  })
