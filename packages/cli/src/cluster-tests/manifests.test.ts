import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { clusterImage, kubectl, noCluster } from '../testing/cluster.js'
import { until } from '../testing.js'

const MANIFEST = new URL('../../../../deploy/kubernetes/sluice-w1.yaml', import.meta.url)

test('the manifests start the image, and the Service responds', { skip: noCluster }, async (t) => {
  const text = readFileSync(MANIFEST, 'utf8')
  const image = /image: (\S*sluice\S*)/.exec(text)![1]!
  t.after(() => kubectl(['delete', 'namespace', 'sluice', '--wait=false']))
  kubectl(['apply', '-f', '-'], text.replace(image, `${clusterImage}\n          imagePullPolicy: Never`))
  kubectl(['-n', 'sluice', 'rollout', 'status', 'deployment/sluice', '--timeout=2m'])
  const address = kubectl(['-n', 'sluice', 'get', 'service', 'sluice', '-o', 'jsonpath={.spec.clusterIP}'])
  // The node may learn of the Service later than of its pods.
  const ask = () => fetch(`http://${address}/`)
  await until(() =>
    ask().then(
      () => true,
      () => false,
    ),
  )
  const answer = await ask()
  assert.deepEqual([answer.status, await answer.text()], [200, 'Hello from Sluice.\n'])
})
