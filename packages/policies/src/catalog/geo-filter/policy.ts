import { type CompileEnv, definePolicy, PlaceFile } from '@sluice/core'
import { PlaceVerdicts } from './place-verdicts.js'
import { geoFilterSchema } from './schema.js'

const RENEW_MS = 60_000
/** The workers look at different moments, so that they do not all hold two databases at once. */
const RENEW_SPREAD = 0.2

/** Refuses callers by where they are. */
export const geoFilter = definePolicy({
  name: 'geo-filter',
  summary: 'Lets callers in or keeps them out by country, continent, city or network, from a local database.',
  schema: geoFilterSchema,
  async compile(config, env) {
    if (config.allow === undefined && config.deny === undefined) {
      throw new Error("neither 'allow' nor 'deny' is given; list places under one of them")
    }
    const places = await openFile(config.file, env)
    const networks = config.networkFile === undefined ? places : await openFile(config.networkFile, env)
    const verdicts = new PlaceVerdicts(config, places, networks)
    const denied = env.refusal(
      'GW_GEO_DENIED',
      'calls from this place are not allowed; ask the operator of this API',
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

/** One for all uses of a file in a worker. @throws Error for one that cannot be read. */
async function openFile(file: string, env: CompileEnv): Promise<PlaceFile> {
  const report = (problem: string): void => env.report('geo_database', { file, problem })
  const places = env.shared(`places ${file}`, () => new PlaceFile(file, report))
  await places.renew()
  if (places.database === null) throw new Error(`${file}: ${places.problem}`)
  env.schedule(RENEW_MS * (1 - RENEW_SPREAD * Math.random()), () => places.renew())
  return places
}
