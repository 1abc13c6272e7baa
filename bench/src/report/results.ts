import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { reasonOf } from '@sluice/core'
import { SUMMARY_VERSION, Summary } from '../model/summary.js'
import { reportHtml } from './page.js'
import { pointsCsv } from './points-csv.js'

const FORMS: readonly (readonly [string, (summary: Summary) => string])[] = [
  ['summary.json', (summary) => `${JSON.stringify(summary, null, 2)}\n`],
  ['points.csv', pointsCsv],
  ['report.html', reportHtml],
]

/** Writes all reports of a run into a folder, which is created if necessary. Returns the paths. */
export function writeResults(summary: Summary, dir: string): string[] {
  mkdirSync(dir, { recursive: true })
  return FORMS.map(([name, content]) => {
    writeFileSync(join(dir, name), content(summary))
    return join(dir, name)
  })
}

/** Reads a `summary.json`. @throws Error with the problem and its place */
export function readSummary(file: string): Summary {
  const content = parsed(file)
  const version = (content as { readonly schemaVersion?: unknown } | null)?.schemaVersion
  if (version === undefined) throw new Error(`${file} is not a summary of gw bench: it has no schemaVersion`)
  if (version !== SUMMARY_VERSION)
    throw new Error(
      `${file} has schemaVersion ${JSON.stringify(version)}, this version of gw reads ${SUMMARY_VERSION}; read it with the version that wrote it`,
    )
  const flaw = Value.Errors(Summary, content).First()
  if (flaw === undefined) return content as Summary
  throw new Error(`${file} is not a valid summary: ${flaw.path}: ${flaw.message.toLowerCase()}`)
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Error(`cannot read the run ${file}: ${reasonOf(cause)}`, { cause })
  }
}
