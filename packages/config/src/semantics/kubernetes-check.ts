import { checkKubeconfig } from './file-check.js'
import type { Inspection } from './inspection.js'

/** Checks the kubeconfig file. */
export function checkKubernetes(inspection: Inspection): void {
  const file = inspection.document.kubernetes?.kubeconfig
  if (file !== undefined) checkKubeconfig(inspection, file, ['kubernetes', 'kubeconfig'])
}
