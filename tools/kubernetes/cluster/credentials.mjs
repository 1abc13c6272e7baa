import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Address of the API server within the cluster's namespaces. */
export const API = { address: '10.200.0.1', port: 6443 }

const NAMES = [
  `IP:${API.address}`,
  'IP:10.96.0.1',
  'IP:127.0.0.1',
  'DNS:kubernetes',
  'DNS:kubernetes.default',
  'DNS:kubernetes.default.svc',
  'DNS:localhost',
].join()

/** Users of the API server, with their groups, by the name of their token. */
const USERS = {
  admin: ['admin', 'system:masters'],
  manager: ['system:kube-controller-manager', ''],
  scheduler: ['system:kube-scheduler', ''],
  kubelet: ['system:node:n1', 'system:nodes'],
  proxy: ['system:kube-proxy', 'system:node-proxier'],
}

/** Creates certificate authorities, certificates, tokens and kubeconfigs for a test cluster. */
export function makeCredentials(folder) {
  const at = (name) => join(folder, name)
  authority('ca')
  signed('api', '/CN=kube-apiserver', 'ca')
  signed('kubelet-client', '/O=system:masters/CN=kube-apiserver-kubelet-client', 'ca')
  authority('proxy-ca')
  signed('proxy-client', '/CN=front-proxy', 'proxy-ca')
  openssl('genrsa', '-out', at('accounts.key'), '2048')
  const rows = Object.entries(USERS).map(
    ([name, [user, groups]]) => `${name}-token,${user},${name},"${groups}"`,
  )
  writeFileSync(at('tokens.csv'), `${rows.join('\n')}\n`)
  for (const name of Object.keys(USERS)) writeFileSync(at(`${name}.kubeconfig`), kubeconfig(name))

  function authority(name) {
    const subject = ['-subj', `/CN=${name}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.crt`)]
    openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject)
  }

  function signed(name, subject, by) {
    const [key, request, names] = [at(`${name}.key`), at(`${name}.csr`), at('names')]
    writeFileSync(names, `subjectAltName=${NAMES}\n`)
    openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', subject, '-keyout', key, '-out', request)
    const signer = ['-CA', at(`${by}.crt`), '-CAkey', at(`${by}.key`), '-CAcreateserial', '-days', '2']
    openssl('x509', '-req', '-in', request, ...signer, '-extfile', names, '-out', at(`${name}.crt`))
  }

  function kubeconfig(name) {
    return `apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "https://${API.address}:${API.port}", certificate-authority: ${at('ca.crt')} } }]
users: [{ name: u, user: { token: ${name}-token } }]
contexts: [{ name: c, context: { cluster: c, user: u } }]
current-context: c
`
  }
}

function openssl(...args) {
  const { status, stderr, error } = spawnSync('openssl', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`openssl ${args[0]} failed: ${error?.message ?? stderr}`)
}
