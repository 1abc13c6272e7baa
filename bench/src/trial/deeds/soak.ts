import type { RunningGateway } from '../../contestant/gateway.js'
import { Beat } from '../beat.js'
import type { Deed } from '../deed.js'
import { NOTHING_LOST } from '../judgement.js'
import { SoakWatch } from '../soak-watch.js'

const RELOAD_SECONDS = 60
/** However short it is. */
const LEAST_RELOADS = 4
const SAMPLE_SECONDS = 60
const LEAST_SAMPLES = 20

/** Another document every minute, and a look at memory and files. */
export function soak(): Deed {
  const reloads = { reloads: 0, failedReloads: 0 }
  let watch: SoakWatch
  let beats: readonly Beat[] = []
  return {
    begin: async ({ gateway }, seconds) => {
      watch = new SoakWatch(gateway)
      beats = [
        new Beat(Math.min(RELOAD_SECONDS, seconds / (LEAST_RELOADS + 1)), () => reload(gateway, reloads)),
        new Beat(Math.min(SAMPLE_SECONDS, seconds / LEAST_SAMPLES), () => watch.look()),
      ]
    },
    end: async () => {
      for (const beat of beats) await beat.end()
    },
    expects: () => NOTHING_LOST,
    soak: () => ({ ...reloads, ...watch.figures() }),
  }
}

interface ReloadCount {
  reloads: number
  failedReloads: number
}

const FIELDS = { use: 'header', with: { response: { set: { 'x-soak': 'odd' } } } }

/** The document with a policy more, and without it again: each is another one than the one before. */
async function reload(gateway: RunningGateway, count: ReloadCount): Promise<void> {
  const isOdd = (count.reloads + count.failedReloads) % 2 === 0
  const policies = isOdd ? [FIELDS] : []
  try {
    await gateway.deploy((document) => ({
      ...document,
      routes: document.routes.map((route) => ({ ...route, policies })),
    }))
    count.reloads++
  } catch {
    count.failedReloads++
  }
}
