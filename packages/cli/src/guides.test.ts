import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { normalizeDocument } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { Ajv } from 'ajv'
import { parseAllDocuments } from 'yaml'
import { blocksOf, PAGES, ROOT } from './testing/guide-pages.js'
import { gwInProcess } from './testing/in-process.js'

const blocks = PAGES.flatMap(blocksOf)

test('the YAML of every guide fits the schema of documents and policies', async () => {
  const { stdout } = await gwInProcess(['schema'])
  // Compiled quickly: it validates a few documents only.
  const ajv = new Ajv({ strict: false, inlineRefs: false, code: { optimize: false } })
  const validate = ajv.compile(JSON.parse(stdout) as object)
  const problems = blocks
    .filter(({ language }) => language === 'yaml')
    .flatMap(({ place, text }) =>
      parseAllDocuments(text, { merge: true }).flatMap((parsed) => {
        if (!('toJS' in parsed)) return []
        if (parsed.errors.length > 0) return [`${place}: ${parsed.errors[0]?.message}`]
        const value: unknown = parsed.toJS()
        if (hasPlugins(value)) return []
        return validate(documentOf(value)) ? [] : [`${place}: ${ajv.errorsText(validate.errors)}`]
      }),
    )
  assert.deepEqual(problems, [])
})

test('guides and examples use no deprecated keys', () => {
  const examples = readdirSync(new URL('examples/', ROOT))
    .map((name) => `examples/${name}/gateway.yaml`)
    .filter((place) => existsSync(new URL(place, ROOT)))
    .map((place) => ({ place, language: 'yaml', text: readFileSync(new URL(place, ROOT), 'utf8') }))
  const found = [...blocks, ...examples]
    .filter(({ language }) => language === 'yaml')
    .flatMap(({ place, text }) =>
      parseAllDocuments(text, { merge: true }).flatMap((parsed) => {
        const { deprecations } = normalizeDocument(
          documentOf('toJS' in parsed ? parsed.toJS() : null),
          catalog,
        )
        return deprecations.map(({ message }) => `${place}: ${message}`)
      }),
    )
  assert.deepEqual(found, [])
})

/** Completes an excerpt: a list holds policies, and an object with `use` is one of them. */
function documentOf(value: unknown): object {
  const policies = Array.isArray(value) ? value : isPolicy(value) ? [value] : null
  if (policies !== null) return { version: 1, routes: [{ id: 'excerpt', respond: {}, policies }] }
  return { version: 1, ...(value as object) }
}

/** True if the schema does not know the policies of the document. */
function hasPlugins(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'plugins' in value
}

function isPolicy(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'use' in value && catalog.has(String(value.use))
}
