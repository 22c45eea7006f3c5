import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { libraries, root } from './workspace.ts'

const entries = libraries.map(({ folder, manifest }) => ({
  folder,
  files: Object.values(manifest.exports ?? {}).map((conditions) =>
    join(root, folder, conditions['@recall/source'] ?? ''),
  ),
}))

const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
const program = ts.createProgram(
  entries.flatMap(({ files }) => files),
  options,
)
const checker = program.getTypeChecker()

const meant = (symbol: ts.Symbol): ts.Symbol =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

function exportsOf(file: string): ts.Symbol[] {
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  return module ? checker.getExportsOfModule(module).map(meant) : []
}

const exported = new Set(entries.flatMap(({ files }) => files.flatMap(exportsOf)))

/** The types that the signature of a declaration names; what stands in bodies and private members is nobody's affair. */
function namedTypes(declaration: ts.Node): ts.Symbol[] {
  const found: ts.Symbol[] = []
  const look = (node: ts.Node): void => {
    if (ts.isBlock(node) || ts.isPrivateIdentifier(node)) return
    if (
      ts.canHaveModifiers(node) &&
      node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
    )
      return
    if (ts.isVariableDeclaration(node) && node.type) {
      look(node.type)
      return
    }
    if (ts.isArrowFunction(node)) {
      for (const part of [...(node.typeParameters ?? []), ...node.parameters, node.type]) if (part) look(part)
      return
    }
    const name = ts.isTypeReferenceNode(node)
      ? node.typeName
      : ts.isExpressionWithTypeArguments(node)
        ? node.expression
        : undefined
    const symbol = name && checker.getSymbolAtLocation(name)
    if (symbol) found.push(meant(symbol))
    ts.forEachChild(node, look)
  }
  look(declaration)
  return found
}

/** Besides options and settings, the types that programs fill from what they may not have. */
const filledByPrograms = [
  'BatchWrite',
  'Conversation',
  'ConversationFacts',
  'ExecutionRecord',
  'Goal',
  'Lesson',
  'MemoryErrorContext',
  'MemoryFacts',
  'MemoryPolicies',
  'Message',
  'NewMemory',
  'Occasion',
  'Reflection',
  'SearchQuery',
  'Situation',
]
const isFilled = ({ name }: ts.Symbol): boolean =>
  filledByPrograms.includes(name) || /(?:Options|Settings)$/.test(name)

/** What of an exported symbol programs fill: the members of such a type, or the parameters of a function. */
const filled = (symbol: ts.Symbol): readonly ts.Node[] =>
  (symbol.declarations ?? []).flatMap((each) => {
    if (isFilled(symbol)) return each
    return ts.isFunctionDeclaration(each) ? [...each.parameters] : []
  })

/** The optional members that programs under `exactOptionalPropertyTypes` cannot give as `undefined`. */
function exactMembers(symbol: ts.Symbol): string[] {
  const found: string[] = []
  const look = (node: ts.Node): void => {
    if (ts.isPropertySignature(node) && node.questionToken && !takesUndefined(node.type))
      found.push(`${symbol.name}.${node.name.getText()}`)
    ts.forEachChild(node, look)
  }
  for (const node of filled(symbol)) look(node)
  return found
}

const takesUndefined = (type: ts.TypeNode | undefined): boolean =>
  type !== undefined &&
  (type.kind === ts.SyntaxKind.UnknownKeyword ||
    (ts.isUnionTypeNode(type) && type.types.some(({ kind }) => kind === ts.SyntaxKind.UndefinedKeyword)))

const isOurs = (symbol: ts.Symbol): boolean =>
  symbol.declarations?.some((each) => each.getSourceFile().fileName.startsWith(join(root, 'packages'))) ??
  false

const isOfDependency = (symbol: ts.Symbol): boolean =>
  symbol.declarations?.every((each) => {
    const { fileName } = each.getSourceFile()
    return (
      fileName.includes('/node_modules/') && !/\/node_modules\/(?:@types\/node|typescript)\//.test(fileName)
    )
  }) ?? false

const isTypeParameter = ({ flags }: ts.Symbol): boolean => (flags & ts.SymbolFlags.TypeParameter) !== 0

describe.each(entries)('$folder', ({ files }) => {
  it('exports every type that its signatures name', () => {
    const symbols = files.flatMap(exportsOf)
    expect(symbols).not.toEqual([])
    const unnamed = symbols.flatMap((symbol) =>
      (symbol.declarations ?? [])
        .flatMap(namedTypes)
        .filter((type) => isOurs(type) && !isTypeParameter(type) && !exported.has(type))
        .map((type) => `${type.name} in ${symbol.name}`),
    )
    expect([...new Set(unnamed)]).toEqual([])
  })

  it('exports every type of another package that a function of it returns', () => {
    const returned = files.flatMap(exportsOf).flatMap(({ name, declarations = [] }) =>
      declarations
        .flatMap((each) => (ts.isFunctionDeclaration(each) && each.type ? namedTypes(each.type) : []))
        .filter((type) => isOfDependency(type) && !exported.has(type))
        .map((type) => `${type.name} of ${name}`),
    )
    expect(returned).toEqual([])
  })

  it('takes undefined for an option that is not given', () => {
    // Suites of tests are called by those who know what they give.
    const symbols = files.filter((file) => !file.includes('conformance')).flatMap(exportsOf)
    expect([...new Set(symbols.flatMap(exactMembers))]).toEqual([])
  })
})

it('knows the types that programs fill', () => {
  const names = [...exported].filter(isFilled).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining([...filledByPrograms, 'MemoryManagerOptions']))
})
