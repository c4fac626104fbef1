# The digests are those of SHA256SUMS; zeros until the first release.
class AgentBash < Formula
  desc "Shell runtime for coding agents"
  homepage "https://example.invalid/agent-bash"
  version "0.1.0"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "bash"
  depends_on :linux

  on_linux do
    on_intel do
      url "#{homepage}/releases/download/v#{version}/agent-bash-#{version}-x86_64-linux.tar.xz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_arm do
      url "#{homepage}/releases/download/v#{version}/agent-bash-#{version}-aarch64-linux.tar.xz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  def install
    bin.install "bin/agent-bash"
    man1.install Dir["share/man/man1/*.1"]
    bash_completion.install "share/bash-completion/completions/agent-bash"
    zsh_completion.install "share/zsh/site-functions/_agent-bash"
    fish_completion.install "share/fish/vendor_completions.d/agent-bash.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/agent-bash --version")
    assert_equal "hello\n", shell_output("#{bin}/agent-bash run 'echo hello'")
  end
end
