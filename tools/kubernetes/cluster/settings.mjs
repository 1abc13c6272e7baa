import { API } from './credentials.mjs'

/** Folder of the containerd socket. */
export const CONTAINERD = '/run/sluice-containerd'

/** Configuration of containerd. Without CAP_SYS_RESOURCE no OOM score can be lowered. */
export const containerdConfig = (folder) => `version = 2
root = "${folder}/containerd"
state = "${CONTAINERD}"
[grpc]
  address = "${CONTAINERD}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  disable_tcp_service = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
        BinaryName = "/usr/sbin/runc"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
`

/** CNI configuration, which assigns pod addresses. */
export const cniConfig = (folder) =>
  JSON.stringify({
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'pods0',
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: `${folder}/ipam`,
          ranges: [[{ subnet: '10.244.0.0/24' }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  })

/** Configuration of the kubelet. Its defaults refuse cgroups version 1, which some machines still have. */
export const kubeletConfig = (folder, cgroup) =>
  JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: API.address,
    port: 10_250,
    readOnlyPort: 0,
    containerRuntimeEndpoint: `unix://${CONTAINERD}/containerd.sock`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: cgroup,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    clusterDomain: 'cluster.local',
    resolvConf: '/etc/resolv.conf',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${folder}/ca.crt` },
    },
    authorization: { mode: 'Webhook' },
    evictionHard: { 'memory.available': '200Mi', 'nodefs.available': '2%', 'imagefs.available': '2%' },
    imageGCHighThresholdPercent: 99,
    imageGCLowThresholdPercent: 98,
    maxPods: 60,
    podLogsDir: `${folder}/pod-logs`,
    volumePluginDir: `${folder}/volume-plugins`,
    nodeStatusUpdateFrequency: '5s',
    // Short, because tests wait for it.
    syncFrequency: '5s',
    configMapAndSecretChangeDetectionStrategy: 'Watch',
  })

/** Returns the arguments of the API server. */
export const apiServerArguments = (folder, etcd) => [
  `--etcd-servers=${etcd}`,
  `--bind-address=${API.address}`,
  `--advertise-address=${API.address}`,
  `--secure-port=${API.port}`,
  `--tls-cert-file=${folder}/api.crt`,
  `--tls-private-key-file=${folder}/api.key`,
  `--client-ca-file=${folder}/ca.crt`,
  `--token-auth-file=${folder}/tokens.csv`,
  `--service-account-key-file=${folder}/accounts.key`,
  `--service-account-signing-key-file=${folder}/accounts.key`,
  '--service-account-issuer=https://kubernetes.default.svc',
  '--service-cluster-ip-range=10.96.0.0/16',
  '--authorization-mode=Node,RBAC',
  '--enable-admission-plugins=NodeRestriction',
  '--kubelet-preferred-address-types=InternalIP',
  `--kubelet-client-certificate=${folder}/kubelet-client.crt`,
  `--kubelet-client-key=${folder}/kubelet-client.key`,
  `--requestheader-client-ca-file=${folder}/proxy-ca.crt`,
  '--requestheader-allowed-names=front-proxy',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-username-headers=X-Remote-User',
  `--proxy-client-cert-file=${folder}/proxy-client.crt`,
  `--proxy-client-key-file=${folder}/proxy-client.key`,
  '--enable-aggregator-routing=true',
  '--allow-privileged=true',
  // For small-node.yaml.
  '--feature-gates=MutatingAdmissionPolicy=true',
  '--runtime-config=admissionregistration.k8s.io/v1beta1=true',
]
