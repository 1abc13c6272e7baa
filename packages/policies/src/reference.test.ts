import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Policy } from '@sluice/core'
import { contractIssues } from './contract-kit.js'
import { catalog } from './full-catalog.js'
import { exampleOf, folderOf, POLICY_GROUPS, referenceOf } from './reference.js'
import { exampleUses, schemaMistakes, testEnv } from './testing.js'

const packages = join(import.meta.dirname, '../..')

/** Compares the generated text with the file. UPDATE_GOLDEN=1 rewrites the file. */
function compare(file: string, generated: string): void {
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, generated)
  const written = existsSync(file) ? readFileSync(file, 'utf8') : ''
  assert.equal(written, generated, 'run the test with UPDATE_GOLDEN=1 to rewrite the file')
}

for (const policy of catalog.values()) {
  const folder = join(packages, folderOf(policy))
  const example = exampleOf(policy)

  test(`the README of ${policy.name} is up to date`, () => {
    compare(join(folder, 'README.md'), referenceOf(policy, example))
  })

  test(`the example of ${policy.name} is valid, compiles and passes the contract tests`, async (t) => {
    const env = testEnv()
    t.after(() => env.close())
    const uses = exampleUses(policy)
    for (const use of uses) {
      assert.equal(use.use, policy.name)
      assert.deepEqual(schemaMistakes(policy, use.with), [])
      assert.equal((await policy.compile(use.with, env))?.name, policy.name)
    }
    const configs = uses.map((use) => use.with)
    assert.deepEqual(await contractIssues(policy, configs), [])
  })

  test(`every option of ${policy.name} is described, and no object takes unknown keys`, () => {
    for (const [path, node] of nodes(policy.schema, policy.name)) {
      assert.ok(node.description, `${path} has no description`)
      if (node.properties !== undefined) assert.equal(node.additionalProperties, false, path)
    }
  })
}

/** Headings of the index, by policy folder. */
const TITLES: Readonly<Record<(typeof POLICY_GROUPS)[number], string>> = {
  auth: 'Authentication and authorization',
  traffic: 'Traffic control',
  content: 'Content checks and protection',
  transform: 'Transformation and orchestration',
}

test('the index of policies lists every policy with its summary', () => {
  const policies = [...catalog.values()]
  const row = (policy: Policy) =>
    `| [\`${policy.name}\`](../../packages/${folderOf(policy)}/README.md) | ${policy.summary} |`
  const tables = POLICY_GROUPS.map((group) => {
    const rows = policies.filter((policy) => folderOf(policy).includes(`/src/${group}/`)).map(row)
    return `## ${TITLES[group]}\n\n| policy | purpose |\n| --- | --- |\n${rows.join('\n')}\n`
  })
  const page = `# Policies

List a policy in the \`policies\` of a route. \`use\` names it, and \`with\` holds the parameters listed on its page. To use it in
several routes, define it with an \`id\` in the \`policies\` of the document, and list that id in each route.
Every policy also takes \`when\` (a [condition](../guides/conditions.md)), \`onError\` and \`enabled\`.

A duration is a number with \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`, such as \`500ms\`. A size has \`b\`, \`kb\`, \`mb\` or \`gb\`, such as \`64kb\`.
A rate has \`/s\`, \`/m\`, \`/h\` or \`/d\`, such as \`100/s\`.

\`gw policy doc NAME\` prints the same page in a terminal. This index and the pages are generated from the schemas.

${tables.join('\n')}`
  compare(join(packages, '../docs/reference/policies.md'), page)
})

test('the catalog names each policy by its own name', () => {
  for (const [name, policy] of catalog) assert.equal(policy.name, name)
  assert.deepEqual([...catalog.keys()], [...catalog.keys()].sort())
})

test('a reference without an example omits that section and marks required options', () => {
  const text = referenceOf(catalog.get('body-limit') as Policy)
  assert.doesNotMatch(text, /## Example/)
  assert.match(text, /\| `maxBytes` \| size \| required \|/)
  assert.match(text, /\| `raise` \| boolean \| `false` \|/)
})

interface Node {
  readonly description?: string
  readonly additionalProperties?: boolean
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
}

function nodes(node: Node, path: string): [string, Node][] {
  const children = Object.entries(node.properties ?? {}).flatMap(([name, child]) =>
    nodes(child, `${path}.${name}`),
  )
  const items = node.items === undefined ? [] : nodes(node.items, `${path}[]`)
  return [[path, node], ...children, ...items]
}

/** Policies not measured yet. The next policy benchmark run adds them. */
const UNMEASURED = ['compress', 'saml']

test('every CPU-bound policy has a measured cost', () => {
  for (const name of catalog.measured!.keys()) assert.ok(catalog.has(name), name)
  const computing = [...catalog.values()].filter(({ cost }) => cost === 'cpu').map(({ name }) => name)
  assert.deepEqual(
    computing.filter((name) => !catalog.measured!.has(name)),
    UNMEASURED,
  )
})
