import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { displayPlan } from './compare/display-plan.js'
import { formatDiagnostic } from './diagnostic/diagnostic.js'
import { type LoadResult, loadDocument } from './load/load-document.js'
import { readSampleFile, SAMPLE_CATALOG, SAMPLE_ENV } from './testing/sample-catalog.js'

const FOLDER = fileURLToPath(new URL('../golden/', import.meta.url))

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'))) {
  const name = file.slice(0, -'.yaml'.length)
  test(`golden: ${name}`, () => {
    const text = readFileSync(`${FOLDER}${file}`, 'utf8')
    const result = loadDocument(
      { text, name: file },
      { catalog: SAMPLE_CATALOG, env: SAMPLE_ENV, readFile: readSampleFile, readEnd: readSampleFile },
    )
    compare(`${name}.plan.json`, planText(result))
    compare(`${name}.errors.txt`, result.ok ? null : lines(result.diagnostics.map(formatDiagnostic)))
    compare(`${name}.warnings.txt`, result.ok ? lines(result.warnings.map(formatDiagnostic)) : null)
  })
}

function planText(result: LoadResult): string | null {
  if (!result.ok) return null
  return `${JSON.stringify(displayPlan(result.bundle.plan, SAMPLE_CATALOG), null, 2)}\n`
}

function lines(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : `${texts.join('\n')}\n`
}

/** With UPDATE_GOLDEN=1 the files of the case are written again; which ones there are is part of what is compared. */
function compare(file: string, actual: string | null): void {
  const path = `${FOLDER}${file}`
  if (process.env['UPDATE_GOLDEN'] === '1' && actual !== null) writeFileSync(path, actual)
  const expected = existsSync(path) ? readFileSync(path, 'utf8') : null
  assert.equal(actual, expected, `${file} differs; UPDATE_GOLDEN=1 rewrites it`)
}
