import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { AnySchema } from 'ajv'
import { prepareDialect } from '../../engines/json-schema/dialect.js'
import { DRAFTS, type Draft } from '../../engines/json-schema/draft.js'
import { findViolations } from '../../engines/json-schema/violations.js'

/** The official JSON-Schema-Test-Suite, with the optional parts and the formats. */
const SUITE = new URL('../../../testing/json-schema-test-suite/', import.meta.url)

interface Group {
  readonly file: string
  readonly description: string
  readonly schema: AnySchema
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

/** What is refused when the schema is loaded, with the words that say so. There is no other exception. */
const REFUSED: readonly (readonly [file: string, group: RegExp, words: RegExp])[] = [
  ['ref', /ref overrides any sibling|\$ref prevents a sibling/, /ignores '(maxItems|\$?id)' beside '\$ref'/],
  [
    'recursiveRef',
    /^(?!\$recursiveRef (without|with no) \$recursiveAnchor works like|.*\$recursiveAnchor: false works like)/,
    /'\$recursiveRef' is not supported together/,
  ],
  ['dynamicRef', /./, /may refer to several schemas/],
  ['optional/dynamicRef', /./, /may refer to several schemas/],
  [
    'unevaluatedItems',
    /with \$(dynamic|recursive)Ref/,
    /may refer to several schemas|is not supported together/,
  ],
  ['unevaluatedItems', /contains/, /'unevaluatedItems' beside 'contains' is not supported/],
  [
    'unevaluatedProperties',
    /with \$(dynamic|recursive)Ref/,
    /may refer to several schemas|is not supported together/,
  ],
  ['vocabulary', /./, /\$vocabulary/],
  ['optional/format-assertion', /./, /\$vocabulary/],
  ['refRemote', /with different (URN )?\$id/, /can't resolve reference/],
  ['optional/cross-draft', /./, /can't resolve reference/],
  ['optional/unknownKeyword', /./, /resolves to more than one schema/],
]

/** Parts that the specification leaves to the implementation, and that are not done: no verdict of theirs counts. */
const NOT_DONE = /^optional\/(content|zeroTerminatedFloats)$/

/** What cannot be compiled beside other schemas, because it names itself or is named. */
const NAMES =
  /"(?:\$?id|\$(?:ref|anchor|dynamicRef|dynamicAnchor|recursiveRef|recursiveAnchor)|unevaluated\w+)"|localhost/

/** Values of `allErrors` by draft. The code for it is the same in all drafts. */
const REPORTS: Partial<Record<Draft, readonly boolean[]>> = { '07': [true, false], '2020-12': [true, false] }
const DIALECT = { coerce: false, removeAdditional: false, applyDefaults: false }
const remotes = JSON.parse(read('remotes')) as Readonly<Record<string, AnySchema>>

for (const draft of DRAFTS) {
  test(`draft ${draft} is read as its official tests have it, or refused at load`, async () => {
    const groups = (JSON.parse(read(draft)) as Group[]).filter(({ file }) => !NOT_DONE.test(file))
    const alone = groups.filter(({ schema }) => NAMES.test(JSON.stringify(schema)))
    const wrong = (await Promise.all(alone.map((group) => wrongVerdicts([group], draft)))).flat()
    const others = groups.filter((group) => !alone.includes(group))
    for (const areFormats of [true, false]) {
      wrong.push(
        ...(await wrongVerdicts(
          others.filter((one) => isFormat(one) === areFormats),
          draft,
        )),
      )
    }
    assert.deepEqual(wrong, [])
    assert.ok(groups.length > 150, String(groups.length))
  })
}

async function wrongVerdicts(groups: readonly Group[], draft: Draft): Promise<string[]> {
  const documents = groups.map(({ schema }) => ({ schema, address: null }))
  const named = remotesOf(documents, draft).map((schema) => ({ schema, address: null }))
  const wrong: string[] = []
  try {
    for (const allErrors of REPORTS[draft] ?? [true]) {
      const dialect = { ...DIALECT, formats: isFormat(groups[0]!), allErrors }
      const { ajv, schemas } = await prepareDialect([...documents, ...named], draft, dialect)
      for (const schema of schemas.slice(groups.length)) ajv.addSchema(schema as object)
      for (const [i, group] of groups.entries()) {
        const validate = ajv.compile(schemas[i]!)
        for (const { description, data, valid } of group.tests) {
          const isValid = findViolations(validate, data, { location: '', most: 1 }).length === 0
          if (isValid !== valid) wrong.push(`${group.file}: ${group.description}: ${description}`)
        }
      }
    }
    const { file, description } = groups[0]!
    if (groups.length === 1 && refusalOf(groups[0]!)?.[0] === file && file !== 'dynamicRef') {
      wrong.push(`${file}: ${description}: is not refused any more`)
    }
  } catch (error) {
    const [, , words] = groups.length === 1 ? (refusalOf(groups[0]!) ?? []) : []
    if (!words?.test((error as Error).message))
      wrong.push(`${groups[0]!.file}: ${groups[0]!.description}: ${error}`)
  }
  return wrong
}

function refusalOf({ file, description }: Group) {
  return REFUSED.find(([where, group]) => where === file && group.test(description))
}

function isFormat({ file }: Group): boolean {
  return file.startsWith('optional/format/')
}

/** The documents that schemas refer to, which would be configured as `references`. */
function remotesOf(schemas: readonly unknown[], draft: Draft): AnySchema[] {
  const folder = draft.startsWith('0') ? `/draft${Number(draft)}/` : `/draft${draft}/`
  const found = new Map<string, AnySchema>()
  const find = (schema: unknown): void => {
    const text = JSON.stringify(schema)
    if (!text.includes('localhost:1234') && found.size === 0) return
    for (const [address, remote] of Object.entries(remotes)) {
      if (typeof remote === 'boolean' || found.has(address)) continue
      if (
        (address.includes('/draft') && !address.includes(folder)) ||
        !text.includes(address.split('/').pop()!)
      ) {
        continue
      }
      found.set(address, { [draft === '04' ? 'id' : '$id']: address, ...remote })
      find(remote)
    }
  }
  for (const schema of schemas) find(schema)
  return [...found.values()]
}

function read(name: string): string {
  return readFileSync(new URL(`${name}.json`, SUITE), 'utf8')
}
