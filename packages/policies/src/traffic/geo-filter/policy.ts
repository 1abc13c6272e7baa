import { type CompileEnv, definePolicy, PlaceFile } from '@sluice/core'
import { PlaceVerdicts } from './place-verdicts.js'
import { geoFilterSchema } from './schema.js'

const RENEW_MS = 60_000
/** Randomises the intervals, so that not all workers hold an old and a new database at the same time. */
const RENEW_SPREAD = 0.2

/** Allows or denies callers by their location. */
export const geoFilter = definePolicy({
  name: 'geo-filter',
  summary: 'Allows or denies callers by country, continent, city or network, from a local database.',
  schema: geoFilterSchema,
  decides: () => 'limit',
  async compile(config, env) {
    if (config.allow === undefined && config.deny === undefined)
      throw new Error("neither 'allow' nor 'deny' is configured; list places under one of them")
    const places = await openFile(config.database.file, env)
    const networks =
      config.networkDatabase === undefined ? places : await openFile(config.networkDatabase.file, env)
    const verdicts = new PlaceVerdicts(config, places, networks)
    const denied = env.refusal(
      'GW_GEO_DENIED',
      'requests from this location are not allowed; ask the operator of this API',
    )
    return {
      name: 'geo-filter',
      onRequest(x) {
        if (verdicts.isAllowed(x.clientIp)) return null
        if (config.dryRun !== true) return denied
        x.setVar('geo-filter', 'would-deny')
        return null
      },
    }
  },
})

/** Opens a database once per worker. @throws Error if it cannot be read. */
async function openFile(file: string, env: CompileEnv): Promise<PlaceFile> {
  const report = (problem: string): void => env.report('geo_database', { file, problem })
  const places = env.shared(`places ${file}`, () => new PlaceFile(file, report))
  await places.renew()
  if (places.database === null) throw new Error(`${file}: ${places.problem}`)
  env.schedule(RENEW_MS * (1 - RENEW_SPREAD * Math.random()), () => places.renew())
  return places
}
