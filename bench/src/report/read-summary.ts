import { readFileSync } from 'node:fs'
import { SUMMARY_VERSION, type Summary } from '../model/summary.js'
import { summaryFlaw } from './summary-shape.js'

/** Reads a `summary.json`. @throws Error that says what is wrong with the file, and where. */
export function readSummary(file: string): Summary {
  const content = parsed(file)
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new Error(`${file} is no summary of gw bench: it does not hold an object`)
  const version: unknown = 'schemaVersion' in content ? content.schemaVersion : undefined
  if (version === undefined) throw new Error(`${file} is no summary of gw bench: it has no schemaVersion`)
  if (version !== SUMMARY_VERSION)
    throw new Error(
      `${file} has schemaVersion ${JSON.stringify(version)}, this version of gw reads ${SUMMARY_VERSION}; read it with the version that wrote it`,
    )
  const flaw = summaryFlaw(content)
  if (flaw !== null) throw new Error(`${file} is no valid summary: ${flaw}`)
  return content as Summary
}

function parsed(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    if (isAbsent) throw new Error(`there is no run of gw bench: ${file} does not exist`, { cause })
    throw new Error(`cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
  try {
    return JSON.parse(text, withoutNulls)
  } catch (cause) {
    throw new Error(`${file} is no JSON: ${(cause as Error).message}`, { cause })
  }
}

/** What is measured of nothing (a mean of no request) is NaN, which JSON writes as null. */
function withoutNulls(key: string, value: unknown): unknown {
  if (key === 'busyShare') return value ?? Number.NaN
  if ((key !== 'perSecond' && key !== 'cpuMicrosPerRequest') || typeof value !== 'object') return value
  const known = Object.entries(value ?? {}).map(([name, figure]) => [name, numbered(figure)] as const)
  return Object.fromEntries(known)
}

function numbered(figure: unknown): unknown {
  return Array.isArray(figure) ? figure.map((each: unknown) => each ?? Number.NaN) : (figure ?? Number.NaN)
}
