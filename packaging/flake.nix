# nix run 'git+file:.?dir=packaging', or github:OWNER/howslow?dir=packaging
{
  description = "What every operation of this computer costs, why, and what a change would buy";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      workspace = (builtins.fromTOML (builtins.readFile ../Cargo.toml)).workspace.package;
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "howslow";
          inherit (workspace) version;
          src = ../.;
          cargoLock.lockFile = ../Cargo.lock;
          cargoBuildFlags = [ "--package" "howslow" ];
          buildFeatures = [ "team" ];
          # They measure, and need what a build's sandbox keeps away.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            mkdir man
            $out/bin/howslow man man
            installManPage man/*
            installShellCompletion --cmd howslow \
              --bash <($out/bin/howslow completions bash) \
              --zsh <($out/bin/howslow completions zsh) \
              --fish <($out/bin/howslow completions fish)
          '';
          meta = {
            description = "What every operation of this computer costs, why, and what a change would buy";
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "howslow";
            platforms = systems;
          };
        };
      });
    };
}
