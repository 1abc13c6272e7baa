import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterImage, kubectl, noCluster } from '../testing/cluster.js'
import { deployHelpers, expectExit } from '../testing/deploys.js'
import { fileWith, until } from '../testing.js'

const NAMESPACE = 'edge'
const { inPlace, said, run, deploy, inNamespace, pods, answers } = deployHelpers(NAMESPACE)
const METRICS = 'metrics: { address: ":9902" }'
const MODEL = { body: 'one', port: 8080, rest: METRICS }
/** Changes that need new pods. */
const WORD = { body: '${env:WORD}', port: 8081, rest: '' }
const SECRET = 'nobody-may-read-this'

function document(changes: Partial<typeof MODEL> = {}): string {
  const { body, port, rest } = { ...MODEL, ...changes }
  return `version: 1
listeners: [{ address: ":${port}", health: true }]
drain: { delay: 0s, timeout: 20s }
log: { sink: file }
routes: [{ id: all, match: { path: /* }, respond: { body: "${body}" } }]
${rest}`
}

/** Returns a value that changes with every object of the gateway. */
function versions(): string {
  const kinds = 'deployment,configmap,service,networkpolicy,serviceaccount,pdb,hpa,replicaset'
  return inNamespace(
    'get',
    kinds,
    '-o',
    'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation} {.data} {.spec}{"\\n"}{end}',
  )
}

const REVISION = { at: '2026-01-01T00:00:00.000Z', note: '', digest: null, way: 'reload' }

function plantRevision(number: number, facts: string): void {
  const labels = {
    'app.kubernetes.io/name': 'sluice',
    'app.kubernetes.io/instance': 'sluice',
    'app.kubernetes.io/managed-by': 'gw',
    'app.kubernetes.io/component': 'revision',
  }
  const metadata = { name: `sluice-revision-${number}`, namespace: NAMESPACE, labels }
  const data = { 'gateway.yaml': document({ body: 'planted' }), 'revision.json': facts }
  kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }))
}

test('gw deploy kubernetes', { skip: noCluster }, async (t) => {
  kubectl(['create', 'namespace', NAMESPACE])
  kubectl(['create', 'secret', 'generic', 'words', '-n', NAMESPACE, `--from-literal=WORD=${SECRET}`])
  t.after(() => kubectl(['delete', 'namespace', NAMESPACE, '--wait=false']))

  await t.test('creates the gateway and waits until every pod serves the document', async (t) => {
    const first = await deploy(t, document(), '--tier', 'W1', '--replicas', '2', '--image', clusterImage)
    expectExit(first, 0)
    assert.match(first.stdout, /^\+ Deployment\/sluice in edge$/m)
    assert.match(first.stdout, /^2 pods start$/m)
    assert.match(first.stdout, /^applied: [0-9a-f]{12} is active in 2 pods$/m)
    assert.deepEqual(await answers(), ['one', 'one'])
  })

  await t.test('the same document again changes nothing', async (t) => {
    const before = versions()
    const again = await deploy(t, document())
    expectExit(again, 0)
    assert.match(again.stdout, /^no differences\nunchanged: /)
    assert.equal(versions(), before)
  })

  await t.test(
    'while somebody else deploys nothing is changed, until that has ended or is taken over',
    async (t) => {
      const lease = (renewTime: Date): void => {
        const spec = {
          ...{ holderIdentity: 'ann@laptop/1', leaseDurationSeconds: 300 },
          ...{
            acquireTime: '2030-01-31T12:00:00.000000Z',
            renewTime: renewTime.toISOString().replace('Z', '000Z'),
          },
        }
        const metadata = { name: 'sluice-deploy', namespace: NAMESPACE }
        const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
        kubectl(['apply', '--server-side', '--field-manager', 'ann', '-f', '-'], JSON.stringify(object))
      }
      const leases = (): string => inNamespace('get', 'leases', '-o', 'name')
      const before = versions()
      lease(new Date())
      const kept = await deploy(t, document({ body: 'other' }))
      expectExit(kept, 1)
      assert.match(kept.stderr, /ann@laptop has been deploying since 2030-01-31T12:00:00Z; wait .* --force/)
      assert.equal(versions(), before)
      expectExit(await deploy(t, document({ body: 'other' }), '--dry-run'), 0)
      expectExit(await deploy(t, document(), '--force'), 0)
      assert.equal(leases(), '', 'whoever has taken it over gives it back')
      lease(new Date(Date.now() - 301_000))
      expectExit(await deploy(t, document()), 0)
      assert.equal(leases(), '', 'nobody waits for one that was killed')
    },
  )

  await t.test('all pods reload a changed configuration without a restart', async (t) => {
    const before = pods()
    const reload = await deploy(t, document({ body: 'two' }), '--note', 'say two')
    expectExit(reload, 0)
    assert.match(reload.stdout, /^2 pods reload without a restart: /m)
    assert.deepEqual(await answers(), ['two', 'two'])
    assert.deepEqual(pods(), before)
    assert.equal(
      inNamespace('get', 'pods', '-o', 'jsonpath={.items[*].status.containerStatuses[*].restartCount}'),
      '0 0',
    )
  })

  await t.test('a plan changes nothing and lists the pods that are replaced', async (t) => {
    const before = versions()
    const file = fileWith(t, document({ port: 8081 }))
    const plan = await deploy(t, document({ port: 8081 }), '--dry-run')
    expectExit(plan, 0)
    assert.match(plan.stdout, /^~ Deployment\/sluice in edge {2}.*spec\.template/m)
    assert.match(plan.stdout, new RegExp(`^2 pods are replaced one by one: ${pods().join(', ')}$`, 'm'))
    const diff = await run('diff', '-c', file, '--kubernetes', ...inPlace, '--exit-code', '-o', 'json')
    expectExit(diff, 2)
    assert.equal(JSON.parse(diff.stdout).way, 'rolling')
    assert.equal(versions(), before)
  })

  await t.test(
    'a broken document is rejected locally or by the pods, and the cluster stays unchanged',
    async (t) => {
      const before = versions()
      expectExit(await deploy(t, document({ rest: 'routs: []' })), 3)
      // The file must exist in the pod.
      const rest = `${METRICS}\nupstreams: { u: { targets: [ "https://a" ], tls: { caFile: /nowhere.pem } } }`
      const refused = await deploy(t, document({ body: 'three', rest }))
      expectExit(refused, 6)
      assert.match(refused.stderr, new RegExp(`^${pods()[0]}: caFile '/nowhere.pem' cannot be read`, 'm'))
      assert.equal(versions(), before)
      assert.deepEqual(await answers(), ['two', 'two'])
    },
  )

  await t.test('a document that one pod cannot prepare is not activated in any pod', async (t) => {
    const [pod, other] = pods()
    const authority = inNamespace('get', 'configmap', 'kube-root-ca.crt', '-o', 'jsonpath={.data.ca\\.crt}')
    kubectl(['-n', NAMESPACE, 'exec', '-i', pod!, '--', 'sh', '-c', 'cat > /tmp/ca.pem'], authority)
    const rest = `${METRICS}\nupstreams: { u: { targets: [ "https://a" ], tls: { caFile: /tmp/ca.pem } } }`
    const refused = await deploy(t, document({ body: 'three', rest }))
    expectExit(refused, 6)
    assert.match(refused.stderr, new RegExp(`^${other}: caFile '/tmp/ca.pem' cannot be read`, 'm'))
    assert.doesNotMatch(refused.stderr, new RegExp(`^${pod}: `, 'm'))
    assert.deepEqual(await answers(), ['two', 'two'])
  })

  await t.test('a change that needs new pods replaces them one after the other', async (t) => {
    const before = pods()
    const rolled = await deploy(t, document(WORD), '--secret', 'words')
    expectExit(rolled, 0)
    assert.match(rolled.stderr, /^Service\/sluice-metrics is no longer needed; --prune deletes it$/m)
    assert.deepEqual(await answers(), [SECRET, SECRET])
    assert.deepEqual(
      pods().filter((name) => before.includes(name)),
      [],
    )
  })

  await t.test('pods that cannot start cause a rollback, and the previous pods keep serving', async (t) => {
    const before = pods()
    for (const [more, problem] of [
      [['--image', 'localhost/nowhere:1'], /ErrImage/],
      [
        ['--tier', 'W8', '--replicas', '9', '--timeout', '6s'],
        /^pod sluice-\S+: 0\/1 nodes are available: 1 Insufficient memory/m,
      ],
      [
        ['--secret', 'absent'],
        /CrashLoopBackOff, exit 3; see kubectl logs --namespace edge --previous sluice-/,
      ],
    ] as const) {
      const failed = await deploy(t, document({ ...WORD, port: 8082 }), ...more)
      expectExit(failed, 6)
      assert.match(failed.stderr, problem)
      assert.deepEqual(pods(), before)
      assert.deepEqual(await answers(), [SECRET, SECRET])
    }
  })

  await t.test('a pod with another document is reported, and a deployment fixes it', async (t) => {
    const [pod] = pods()
    kubectl(
      ['-n', NAMESPACE, 'exec', '-i', pod!, '--', 'gw', 'deploy', '-'],
      document({ ...WORD, body: 'stray' }),
    )
    const status = await run('status', '--kubernetes', ...inPlace)
    expectExit(status, 0)
    assert.match(status.stdout, /^the pods do not serve the same document$/m)
    expectExit(await deploy(t, document(WORD)), 0)
    assert.deepEqual(await answers(), [SECRET, SECRET])
    const { alike, pods: shown } = JSON.parse(
      (await run('status', '--kubernetes', ...inPlace, '-o', 'json')).stdout,
    )
    assert.deepEqual([alike, shown.length], [true, 2])
  })

  await t.test('--prune deletes objects of earlier deployments that are no longer needed', async (t) => {
    const before = pods()
    const pruned = await deploy(t, document(WORD), '--prune')
    expectExit(pruned, 0)
    assert.match(pruned.stdout, /^- Service\/sluice-metrics in edge$/m)
    assert.equal(inNamespace('get', 'service', '-o', 'name'), 'service/sluice')
    assert.deepEqual(pods(), before)
  })

  await t.test('a rollback to an earlier revision uses the deployment method that it needs', async () => {
    const { revisions } = JSON.parse((await run('history', '--kubernetes', ...inPlace, '-o', 'json')).stdout)
    const [second, first] = revisions.slice(-2)
    assert.deepEqual([first.number, first.way, second.way, second.note], [1, 'rolling', 'reload', 'say two'])
    expectExit(await run('rollback', '--kubernetes', ...inPlace, '--to', '2'), 0)
    assert.deepEqual(await answers(), ['two', 'two'])
    const before = pods()
    expectExit(await run('rollback', '--kubernetes', ...inPlace, '--to', '1'), 0)
    assert.deepEqual(await answers(), ['one', 'one'])
    assert.deepEqual(pods(), before)
    const unknown = await run('rollback', '--kubernetes', ...inPlace, '--to', '99')
    expectExit(unknown, 1)
    assert.match(unknown.stderr, /^there is no revision '99'; list revisions with gw history --kubernetes$/m)
  })

  await t.test(
    'the number of pods that somebody has set stays, until the command line says one',
    async (t) => {
      const replicas = () => inNamespace('get', 'deployment', 'sluice', '-o', 'jsonpath={.spec.replicas}')
      inNamespace('scale', 'deployment/sluice', '--replicas=3')
      const diff = await run(
        'diff',
        '--kubernetes',
        ...inPlace,
        '-c',
        fileWith(t, document({ body: 'four' })),
      )
      expectExit(diff, 0)
      assert.match(diff.stdout, /^ {4}~ route all$/m)
      const scaled = await deploy(t, document({ body: 'four' }))
      expectExit(scaled, 0)
      assert.match(scaled.stdout, /is active in 3 pods$/m)
      // The number of pods is the same after a rollback and a replacement.
      expectExit(
        await deploy(t, document({ body: 'five' }), '--image', 'localhost/none:1', '--timeout', '5s'),
        6,
      )
      assert.equal(replicas(), '3')
      expectExit(await deploy(t, document({ port: 8082 })), 0)
      assert.equal(replicas(), '3')
      expectExit(await deploy(t, document(), '--replicas', '2'), 0)
      assert.equal(replicas(), '2')
    },
  )

  await t.test('an autoscaler starts with the current number of pods', async (t) => {
    expectExit(await deploy(t, document(), '--max-replicas', '3'), 0)
    assert.equal(inNamespace('get', 'deployment', 'sluice', '-o', 'jsonpath={.spec.replicas}'), '2')
    assert.equal(inNamespace('get', 'hpa', 'sluice', '-o', 'jsonpath={.spec.maxReplicas}'), '3')
    expectExit(await deploy(t, document({ body: 'six' })), 0)
    assert.equal(inNamespace('get', 'deployment', 'sluice', '-o', 'jsonpath={.spec.replicas}'), '2')
  })

  await t.test('objects of other tools are not changed', async (t) => {
    inNamespace('create', 'configmap', 'other', '--from-literal=a=b')
    const refused = await deploy(t, document(), '--name', 'other', '--image', clusterImage)
    expectExit(refused, 1)
    assert.match(refused.stderr, /^ConfigMap\/other in edge was not made by gw; choose another --name/m)
    assert.equal(inNamespace('get', 'configmap', 'other', '-o', 'jsonpath={.data}'), '{"a":"b"}')
  })

  await t.test(
    'a revision that somebody else wrote brings no more than a document and settings',
    async () => {
      const settings = { tier: 'W1', replicas: 2, image: clusterImage, namespace: 'default' }
      const volumes = { extraVolumes: [{ name: 'root', hostPath: { path: '/' } }] }
      plantRevision(98, '{')
      plantRevision(99, JSON.stringify({ ...REVISION, number: 99, settings: { ...settings, ...volumes } }))
      const plan = await run('rollback', '--kubernetes', ...inPlace, '--to', '99', '-o', 'json', '--dry-run')
      expectExit(plan, 0)
      const { changes } = JSON.parse(plan.stdout)
      const fields = changes.flatMap(
        ({ object, paths }: { object: { namespace: string }; paths: string[] }) =>
          paths.map((path) => `${object.namespace} ${path}`),
      )
      assert.ok(fields.includes(`${NAMESPACE} data.gateway.yaml`))
      assert.deepEqual(
        fields.filter((field: string) => !field.startsWith(NAMESPACE) || field.includes('volumes')),
        [],
      )
      const history = await run('history', '--kubernetes', ...inPlace, '-o', 'json')
      const numbers = JSON.parse(history.stdout).revisions.map(({ number }: { number: number }) => number)
      assert.deepEqual([numbers[0], numbers.includes(98)], [99, false])
      inNamespace('delete', 'configmap', 'sluice-revision-98', 'sluice-revision-99')
    },
  )

  await t.test('inside the cluster, the service account of the pod is used', async () => {
    inNamespace(
      'create',
      'role',
      'reader',
      '--verb=get,list',
      '--resource=pods,configmaps,pods/portforward,replicasets.apps,deployments.apps',
    )
    inNamespace('create', 'rolebinding', 'reader', '--role=reader', `--serviceaccount=${NAMESPACE}:default`)
    const command = ['--', '/opt/sluice/bin/gw', 'status', '--kubernetes']
    inNamespace('run', 'asker', `--image=${clusterImage}`, '--restart=Never', '--command', ...command)
    await until(() => inNamespace('get', 'pod', 'asker', '-o', 'jsonpath={.status.phase}') !== 'Pending')
    await until(() => inNamespace('get', 'pod', 'asker', '-o', 'jsonpath={.status.phase}') !== 'Running')
    assert.match(inNamespace('logs', 'asker'), /^gateway sluice in edge: 2 of 2 pods ready, revision \d+$/m)
  })

  assert.equal(said.join('').includes(SECRET), false)
})
