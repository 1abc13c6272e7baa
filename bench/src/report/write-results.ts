import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Summary } from '../model/summary.js'
import { jmeterCsv } from './jmeter-csv.js'
import { junitXml } from './junit.js'
import { LATENCY_DIR, latencyFiles } from './latency-files.js'
import { reportMarkdown } from './markdown.js'
import { reportHtml } from './page/page.js'
import { pointsCsv } from './points-csv.js'

const FORMS: readonly (readonly [string, (summary: Summary) => string])[] = [
  ['summary.json', (summary) => `${JSON.stringify(summary, null, 2)}\n`],
  ['points.csv', pointsCsv],
  ['jmeter.csv', jmeterCsv],
  ['report.md', reportMarkdown],
  ['junit.xml', junitXml],
  ['report.html', reportHtml],
]

/** Writes a run in every form into a folder, which is made if need be. Answers the paths. */
export function writeResults(summary: Summary, dir: string): string[] {
  mkdirSync(dir, { recursive: true })
  const forms = FORMS.map(([name, content]) => written(join(dir, name), content(summary)))
  return [...forms, ...writeLatencies(summary, join(dir, LATENCY_DIR))]
}

/** Last, because a histogram may turn out to be none. */
function writeLatencies(summary: Summary, dir: string): string[] {
  const files = latencyFiles(summary)
  if (files.length > 0) mkdirSync(dir, { recursive: true })
  return files.map(({ name, content }) => written(join(dir, name), content()))
}

function written(path: string, content: string): string {
  writeFileSync(path, content)
  return path
}
