import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolders } from '@sluice/core'
import { EXIT, Failure, messageOf } from '../failure.js'
import { print, printTable, printValue } from '../output/output.js'
import { countText } from '../output/text.js'
import type { OutputOptions } from '../program/building.js'
import { savedSummary } from './saved-summary.js'
import type { BenchTools } from './tools.js'

/**
 * Where baselines are: beside the results, and not among them, since a project keeps the ones in its repository and not
 * the others.
 */
const FOLDER = 'baselines'
const SUFFIX = '.json'
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
/** Of folders and files that are nobody's secret. */
const SHARED = 0o777

interface SaveFlags {
  readonly name: string
  readonly force?: boolean
}

/** `gw bench baseline save`: keeps the summary of a run under a name. */
export function saveBaseline(tools: BenchTools): (flags: SaveFlags, path: string) => Promise<number> {
  return async ({ name, force = false }, path) => {
    const file = baselineFile(name)
    const { summary } = await savedSummary(tools, path)
    if (!force && names().includes(name))
      throw new Failure(EXIT.failed, `there is a baseline '${name}' already; write --force to replace it`)
    try {
      makeFolders(FOLDER, SHARED)
      const draft = `${file}.tmp`
      writeFileSync(draft, `${JSON.stringify(summary)}\n`)
      renameSync(draft, file)
    } catch (error) {
      throw new Failure(EXIT.failed, `the baseline could not be written to ${file}: ${messageOf(error)}`)
    }
    print(file)
    return EXIT.ok
  }
}

/** `gw bench baseline list`. */
export function listBaselines(tools: BenchTools): (flags: OutputOptions) => Promise<number> {
  return async ({ output }) => {
    const baselines = await Promise.all(names().map((name) => described(tools, name)))
    if (output !== 'table') await printValue({ baselines }, output)
    else
      printTable(
        ['NAME', 'SUITE', 'MEASURED', 'RESULTS', 'RUN'],
        baselines.map(({ name, suite, startedAt, points, trials, id }) => [
          name,
          suite,
          startedAt,
          trials === undefined ? countText(points, 'point') : countText(trials, 'trial'),
          id,
        ]),
      )
    return EXIT.ok
  }
}

/** `gw bench baseline remove`. */
export async function removeBaseline(_flags: object, name: string): Promise<number> {
  rmSync(knownBaseline(name))
  return EXIT.ok
}

/** The file of a baseline. @throws Failure that names those that are there. */
export function knownBaseline(name: string): string {
  const file = baselineFile(name)
  const known = names()
  if (known.includes(name)) return file
  const remedy = known.length === 0 ? 'gw bench baseline save makes one' : `there are ${known.join(', ')}`
  throw new Failure(EXIT.failed, `there is no baseline '${name}' in ${FOLDER}; ${remedy}`)
}

async function described(tools: BenchTools, name: string) {
  const { summary } = await savedSummary(tools, baselineFile(name))
  const { id, suite, startedAt, points, trials } = summary
  const counts = { points: points.length, ...(trials === undefined ? {} : { trials: trials.length }) }
  return { name, id, suite, startedAt, ...counts }
}

/** A name is no path. @throws Failure. */
function baselineFile(name: string): string {
  if (NAME.test(name)) return join(FOLDER, name + SUFFIX)
  throw new Failure(
    EXIT.usage,
    `'${name}' is no name for a baseline; letters, digits, dots, lines and underscores make one, such as main`,
  )
}

function names(): string[] {
  try {
    return readdirSync(FOLDER)
      .filter((file) => file.endsWith(SUFFIX))
      .map((file) => file.slice(0, -SUFFIX.length))
      .filter((name) => NAME.test(name))
      .sort()
  } catch {
    return []
  }
}
