import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'

/** Name of the gateway image on the cluster's node. */
export const clusterImage = process.env['SLUICE_CLUSTER_IMAGE'] ?? ''

/** Skip reason for tests that need a cluster, or false if there is one. */
export const noCluster =
  clusterImage === '' && 'needs a Kubernetes cluster; npm run test:kubernetes starts one'

/** True if the metrics API is available, which autoscalers need. */
export const hasMetrics = process.env['SLUICE_CLUSTER_METRICS'] === '1'

/** Runs kubectl and returns its output. @throws Error with its stderr if it fails */
export function kubectl(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = tryKubectl(args, input)
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')} exited with ${status}: ${stderr}`)
  return stdout.trim()
}

/** Runs kubectl and returns the result, even if it fails. */
export function tryKubectl(args: readonly string[], input = ''): SpawnSyncReturns<string> {
  return spawnSync('kubectl', args, { input, encoding: 'utf8' })
}

/** Runs kubectl asynchronously and returns its output. @throws Error with its stderr if it fails */
export async function askKubectl(args: readonly string[], input = ''): Promise<string> {
  const child = spawn('kubectl', args)
  // kubectl may exit without reading its input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const texts = [child.stdout, child.stderr].map(async (stream) => {
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    return text
  })
  const status = await new Promise((resolve) => child.once('close', resolve))
  const [stdout = '', stderr = ''] = await Promise.all(texts)
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')} exited with ${status}: ${stderr}`)
  return stdout.trim()
}
