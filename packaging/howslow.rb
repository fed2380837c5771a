class Howslow < Formula
  desc "What every operation of this computer costs, why, and what a change would buy"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]
  depends_on :linux

  on_intel do
    url "@REPOSITORY@/releases/download/v@VERSION@/howslow-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
    sha256 "@X86_64@"
  end
  on_arm do
    url "@REPOSITORY@/releases/download/v@VERSION@/howslow-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
    sha256 "@AARCH64@"
  end

  def install
    bin.install "howslow"
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/howslow"
    zsh_completion.install "completions/_howslow"
    fish_completion.install "completions/howslow.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/howslow --version")
    assert_match "vax-1986", shell_output("#{bin}/howslow show vax-1986")
  end
end
