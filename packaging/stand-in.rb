# Called by packaging/check: does with the formula what Homebrew would, from the archive of this machine, without Homebrew.
#   ruby packaging/stand-in.rb FORMULA RELEASE ARCHITECTURE PREFIX
FORMULA, RELEASE, ARCHITECTURE, PREFIX = ARGV

# A folder of an installed formula.
class Place
  def initialize(folder) = @folder = "#{PREFIX}/#{folder}"

  def install(*files)
    files.flatten.each { |file| system("install", "-D", "-t", @folder, file) or abort "formula: cannot install #{file}" }
  end

  def to_s = @folder
end

class Formula
  class << self
    attr_reader :archives, :number, :check

    def desc(text) = text.length < 80 || abort("formula: the description is too long for Homebrew")
    def homepage(address) = address
    def license(any_of:) = any_of
    def depends_on(what) = what == :linux || abort("formula: needs #{what}")
    def version(number) = @number = number
    def on_intel = yield
    def on_arm = yield
    def url(address) = (@archives ||= {})[address] = nil
    def sha256(sum) = @archives[@archives.keys.last] = sum
    def test(&check) = @check = check
  end

  def version = self.class.number
  def bin = Place.new("bin")
  def man1 = Place.new("share/man/man1")
  def bash_completion = Place.new("etc/bash_completion.d")
  def zsh_completion = Place.new("share/zsh/site-functions")
  def fish_completion = Place.new("share/fish/vendor_completions.d")
  def assert_match(text, output) = output.include?(text) || abort("formula: #{output} lacks #{text}")

  def shell_output(command)
    output = `#{command}`
    $?.success? ? output : abort("formula: #{command} fails")
  end
end

load FORMULA
Howslow.archives.each do |address, sum|
  file = "#{RELEASE}/#{File.basename(address)}"
  found = `sha256sum #{file}`.split.first if File.exist?(file)
  abort "formula: #{sum} is not the sum of #{file}" unless found.nil? || found == sum
end
archive = Howslow.archives.keys.map { |address| File.basename(address) }.find { |name| name.include?(ARCHITECTURE) }
system("mkdir", "-p", PREFIX) && system("tar", "-xzf", "#{RELEASE}/#{archive}", "-C", PREFIX) or abort "formula: no #{archive}"
formula = Howslow.new
Dir.chdir("#{PREFIX}/#{archive.delete_suffix(".tar.gz")}") { formula.install }
formula.instance_eval(&Howslow.check)
puts "the formula installs #{formula.version} in #{PREFIX}, and its test passes"
