import { readFile } from 'node:fs/promises'

/** Credentials for the API server. */
export interface Credentials {
  readonly token?: string
  /** Client certificate and its key, PEM. */
  readonly cert?: string
  readonly key?: string
}

/** Address and credentials of an API server. */
export interface ClusterAccess {
  /** URL such as `https://10.96.0.1:443`, possibly with a path. */
  readonly server: URL
  /** Trusted certificate authorities, PEM; undefined for the built-in ones. */
  readonly ca: string | undefined
  /** Expected name in the server's certificate, if it is not the host of `server`. */
  readonly servername?: string
  /** True to accept any certificate. */
  readonly isInsecure: boolean
  /** Namespace for objects without one. */
  readonly namespace: string
  /**
   * Returns the credentials. Call it for each request, because tokens are renewed.
   * @throws Error if they are unavailable.
   */
  credentials(): Promise<Credentials>
}

/** Access to the API server is not configured correctly. The message has the reason and the remedy. */
export class AccessError extends Error {}

/** Folder in which the kubelet puts a pod's service account. */
const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Returns access to the cluster of this process with its pod's service account.
 * @throws AccessError if it does not run in a cluster.
 */
export async function inClusterAccess(
  env: Readonly<Record<string, string | undefined>> = process.env,
  folder = ACCOUNT_FOLDER,
): Promise<ClusterAccess> {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env
  if (host === '')
    throw new AccessError('this process does not run in a Kubernetes cluster; set kubernetes.kubeconfig')
  const server = new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`)
  const read = (name: string) =>
    readFile(`${folder}/${name}`, 'utf8').catch(() => {
      throw new AccessError(
        `cannot read ${folder}/${name}; give the pod its service account (automountServiceAccountToken: true)`,
      )
    })
  const ca = await read('ca.crt')
  const namespace = (await read('namespace').catch(() => 'default')).trim()
  const credentials = async () => ({ token: (await read('token')).trim() })
  await credentials()
  return { server, ca, isInsecure: false, namespace, credentials }
}
