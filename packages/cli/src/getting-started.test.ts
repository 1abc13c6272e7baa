import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatDiagnostic, loadDocument } from '@sluice/config'
import { catalog, exampleOf, hashKey, hashPassword } from '@sluice/policies'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { gwInProcess } from './testing/in-process.js'

const PAGE = readFileSync(new URL('../../../docs/guides/getting-started.md', import.meta.url), 'utf8')
const DOCUMENTS = [...PAGE.matchAll(/## (\d\..*)\n[\s\S]*?```yaml\n([\s\S]*?)```/g)]

test('each task of the introduction has a document', () => {
  assert.equal(DOCUMENTS.length, 6)
})

const HASH = hashPassword('a password')

for (const [, title = '', text = ''] of DOCUMENTS) {
  test(`the document of '${title}' is valid but for its certificate`, async () => {
    const hash = await HASH
    const env = { ACME_KEY_SHA256: hashKey('a key'), LOG_KEY: 'a key of more than sixteen characters' }
    const readFile = (path: string): string => {
      if (path.endsWith('.pem')) throw new Error('a reader makes it first')
      return hash
    }
    const result = loadDocument({ text, name: 'gateway.yaml' }, { catalog, env, readFile })
    const mistakes = result.ok ? result.warnings : result.diagnostics
    const lines = mistakes.map(formatDiagnostic).filter((line) => !line.includes('a reader makes it first'))
    assert.deepEqual(lines, [])
  })
}

const QUICKSTART = new URL('../../../examples/quickstart/gateway.yaml', import.meta.url)

test('the editor schema accepts the quickstart and the example of every policy', async () => {
  const { stdout } = await gwInProcess(['schema'])
  // Compiled quickly: it validates a few documents only. guides.test.ts checks the YAML of the guides.
  const ajv = new Ajv({ strict: false, inlineRefs: false, code: { optimize: false } })
  const validate = ajv.compile(JSON.parse(stdout) as object)
  const quickstart: unknown = parse(readFileSync(QUICKSTART, 'utf8'))
  assert.ok(validate(quickstart), JSON.stringify(validate.errors))
  for (const policy of catalog.values()) {
    const policies: unknown = parse(exampleOf(policy))
    const document = { version: 1, routes: [{ id: 'example', respond: {}, policies }] }
    assert.ok(validate(document), `${policy.name}: ${JSON.stringify(validate.errors)}`)
  }
})
