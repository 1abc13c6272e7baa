import { readFileSync } from 'node:fs'
import os from 'node:os'
import { gatewayVersion } from '../contestant/gateway.js'
import type { HostFacts } from '../model/summary.js'
import { groupLimits } from './control-group.js'
import { allowedCpus } from './cores.js'
import { cpuScore } from './cpu-score.js'
import { machineSettings } from './machine-settings.js'
import { quietLook } from './quiet-look.js'
import { sourceState } from './source-state.js'

export { doctor } from './doctor.js'
export type { Finding } from './finding.js'

const PACKAGES = ['uWebSockets.js', 'undici'] as const

/** The machine as it is now; looks at it for two seconds, in which nothing of ours may run. */
export async function hostFacts(): Promise<HostFacts> {
  const { foreignShare, stolenShare } = await quietLook()
  return {
    cpuModel: os.cpus()[0]?.model.trim() ?? 'unknown',
    cpus: allowedCpus().length,
    memoryBytes: os.totalmem(),
    kernel: `${os.type()} ${os.release()}`,
    node: process.version,
    cpuScore: cpuScore(),
    foreignShare,
    stolenShare,
    versions: versions(),
    source: sourceState(),
    v8: process.versions.v8,
    settings: machineSettings(),
    limits: groupLimits(),
  }
}

function versions(): Record<string, string> {
  const found: Record<string, string> = { sluice: gatewayVersion(), node: process.versions.node }
  for (const name of PACKAGES) {
    const version = installedVersion(name)
    if (version !== null) found[name] = version
  }
  return found
}

/** The version in the package.json of an installed package, which need not export it. */
function installedVersion(name: string): string | null {
  const file = new URL(`../../../node_modules/${name}/package.json`, import.meta.url)
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
  } catch {
    return null
  }
}
