import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'

/** The image of this repository, as the node of the cluster has it. */
export const clusterImage = process.env['SLUICE_CLUSTER_IMAGE'] ?? ''

/** Why a test that needs a cluster does not run here; false in a cluster. */
export const noCluster =
  clusterImage === '' && 'needs a Kubernetes cluster; npm run test:kubernetes starts one'

/** True if the metrics API can be had, which autoscalers ask. */
export const hasMetrics = process.env['SLUICE_CLUSTER_METRICS'] === '1'

/** What a command of kubectl prints. @throws Error with what it said when it fails. */
export function kubectl(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = tryKubectl(args, input)
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout.trim()
}

/** A command of kubectl that may fail. */
export function tryKubectl(args: readonly string[], input = ''): SpawnSyncReturns<string> {
  return spawnSync('kubectl', args, { input, encoding: 'utf8' })
}

/** What a command of kubectl prints, while everything else goes on. @throws Error with what it said when it fails. */
export async function askKubectl(args: readonly string[], input = ''): Promise<string> {
  const child = spawn('kubectl', args)
  // It may end without reading.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const texts = [child.stdout, child.stderr].map(async (stream) => {
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    return text
  })
  const status = await new Promise((resolve) => child.once('close', resolve))
  const [stdout = '', stderr = ''] = await Promise.all(texts)
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout.trim()
}
