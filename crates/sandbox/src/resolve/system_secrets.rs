//! The places of secrets of the system.

use agent_bash_core::words;

/// Secrets outside of the homes, which a host could read as root or in a container.
pub(super) const SYSTEM_SECRETS: &[&str] = words![
    "/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/krb5.keytab",
    "/etc/ssh/ssh_host_dsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key /etc/ssl/private /etc/letsencrypt/archive /etc/letsencrypt/live",
    "/etc/letsencrypt/accounts /etc/NetworkManager/system-connections /etc/wpa_supplicant",
    "/etc/wireguard /etc/openvpn /etc/ipsec.secrets /etc/ppp/chap-secrets /etc/ppp/pap-secrets",
    "/etc/security/opasswd /etc/mysql/debian.cnf /etc/postfix/sasl_passwd /etc/exim4/passwd.client",
    "/etc/cups/printers.conf /etc/docker/key.json /etc/kubernetes /etc/rancher",
    "/var/lib/kubelet/pki /var/lib/rancher /var/lib/tailscale /var/lib/iwd /var/lib/samba/private",
    "/var/lib/sss/secrets /var/lib/NetworkManager/secret_key /var/lib/systemd/credential.secret",
    "/etc/credstore /etc/credstore.encrypted /run/credentials",
    "/var/backups/shadow.bak /var/backups/gshadow.bak /var/mail /etc/pki/tls/private",
    "/etc/pki/entitlement /etc/cryptsetup-keys.d /etc/netplan /etc/gitlab-runner /etc/ceph",
    "/var/lib/bluetooth /var/lib/cloud/instances /run/cloud-init/instance-data-sensitive.json",
    "/var/lib/docker/swarm /run/NetworkManager/system-connections",
    // Secrets of containers and pods.
    "/run/secrets /var/run/secrets",
];

/// Secrets of one user outside of the homes, where no variable names another place: tickets of
/// Kerberos, certificates of a grid, and logins of podman. The number of the user replaces `UID`.
pub(super) const USER_SECRETS: &[&str] = words![
    "/tmp/krb5cc_UID /run/user/UID/krb5cc /tmp/x509up_uUID /run/user/UID/containers/auth.json",
    "/run/containers/UID/auth.json",
];
