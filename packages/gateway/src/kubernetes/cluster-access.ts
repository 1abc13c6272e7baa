import { readFile } from 'node:fs/promises'

/** What a request to the API server proves who asks with. */
export interface Credentials {
  /** Sent as a bearer token. */
  readonly token?: string
  /** A client certificate and its key, PEM. */
  readonly cert?: string
  readonly key?: string
}

/** An API server, and how it is spoken to. */
export interface ClusterAccess {
  /** `https://10.96.0.1:443`, perhaps with a path. */
  readonly server: URL
  /** The authorities to trust, PEM; undefined: the built-in ones. */
  readonly ca: string | undefined
  /** The name in its certificate, where it is not the host of `server`. */
  readonly servername?: string
  /** Accepts every certificate. */
  readonly isInsecure: boolean
  /** The namespace for objects that name none. */
  readonly namespace: string
  /** Read anew for each request, because tokens are renewed. @throws Error when they cannot be had. */
  credentials(): Promise<Credentials>
}

/** There is no way to the API server; the message says why, and how to mend it. */
export class AccessError extends Error {}

/** Where the kubelet puts what a pod needs to ask the API server. */
const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The cluster that this process runs in, with the account of its pod. @throws AccessError when it runs in none. */
export async function inClusterAccess(
  env: Readonly<Record<string, string | undefined>> = process.env,
  folder = ACCOUNT_FOLDER,
): Promise<ClusterAccess> {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env
  if (host === '')
    throw new AccessError(
      'this process runs in no Kubernetes cluster; name a kubeconfig (kubernetes.kubeconfig)',
    )
  const server = new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`)
  const read = (name: string) =>
    readFile(`${folder}/${name}`, 'utf8').catch(() => {
      throw new AccessError(
        `${folder}/${name} cannot be read; the pod needs its service account (automountServiceAccountToken: true)`,
      )
    })
  const ca = await read('ca.crt')
  const namespace = (await read('namespace').catch(() => 'default')).trim()
  const credentials = async () => ({ token: (await read('token')).trim() })
  await credentials()
  return { server, ca, isInsecure: false, namespace, credentials }
}
