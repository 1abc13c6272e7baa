import { isIssue, parseControlUrl } from '@sluice/config/serving'
import { ObjectsError } from './raw-document.js'
import type { ControllerSettings, Verbatim } from './settings.js'

/** What pods of a controller need in addition. The chart reads the same values from its `files/defaults.json`. */
export const CONTROLLED = {
  /** Seconds that a pod may wait for its first bundle. */
  startSeconds: 86_400,
  /** Disk space for the bundles of the controller, in MiB. */
  bundlesMib: 256,
}

/** Folder for the certificates of the connection, in the folder of the document. */
const FOLDER = 'control'

/** Checks the settings. @throws ObjectsError */
export function checkController({ url, tokenSecret, tlsSecret }: ControllerSettings): void {
  const parsed = parseControlUrl(url)
  if (isIssue(parsed) || parsed.protocol !== 'https:')
    throw new ObjectsError(`control.url is '${url}'; use https://HOST:PORT`)
  if ((tokenSecret === undefined) === (tlsSecret === undefined))
    throw new ObjectsError('control needs either tokenSecret or tlsSecret')
}

/** Returns the environment of a gateway that gets its document from a controller. */
export function controllerEnvironment(control: ControllerSettings, folder: string): Verbatim[] {
  const { url, group, tokenSecret, tlsSecret, caSecret } = control
  const file = (name: string, path: string) => ({ name, value: `${folder}/${FOLDER}/${path}` })
  return [
    { name: 'GW_CONTROL', value: url },
    { name: 'GW_CONTROL_GROUP', value: group },
    ...(tokenSecret === undefined
      ? []
      : [{ name: 'GW_CONTROL_TOKEN', valueFrom: { secretKeyRef: { name: tokenSecret, key: 'token' } } }]),
    ...(tlsSecret === undefined
      ? []
      : [file('GW_CONTROL_CERT', 'tls.crt'), file('GW_CONTROL_KEY', 'tls.key')]),
    ...(caSecret === undefined ? [] : [file('GW_CONTROL_CA', 'ca.crt')]),
  ]
}

/** Returns the volume sources of the certificates. */
export function controllerSources({ tlsSecret, caSecret }: ControllerSettings): Verbatim[] {
  const source = (name: string, keys: readonly string[]) => ({
    secret: { name, items: keys.map((key) => ({ key, path: `${FOLDER}/${key}` })) },
  })
  return [
    ...(tlsSecret === undefined ? [] : [source(tlsSecret, ['tls.crt', 'tls.key'])]),
    ...(caSecret === undefined ? [] : [source(caSecret, ['ca.crt'])]),
  ]
}

/** Returns the egress rule for a controller: its port, because NetworkPolicies do not support host names. */
export function controllerEgress({ url }: ControllerSettings): Verbatim {
  return { ports: [{ port: Number(new URL(url).port || 443), protocol: 'TCP' }] }
}
