# Called by packaging/check: evaluates the flake beside a stand-in for nixpkgs, and checks what nixpkgs would be asked to build.
let
  lib = {
    genAttrs = names: make: builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
    licenses = { mit = "MIT"; asl20 = "Apache-2.0"; };
  };
  pkgs = {
    inherit lib;
    rustPlatform.buildRustPackage = package: package;
    installShellFiles = "installShellFiles";
  };
  flake = import ./flake.nix;
  packages = (flake.outputs { self = flake; nixpkgs = { inherit lib; legacyPackages = { x86_64-linux = pkgs; aarch64-linux = pkgs; }; }; }).packages;
in
builtins.mapAttrs
  (system: { default }:
    assert builtins.pathExists (default.src + "/Cargo.toml") && builtins.pathExists default.cargoLock.lockFile &&
      builtins.elem system default.meta.platforms;
    builtins.deepSeq [ default.meta default.postInstall default.cargoBuildFlags default.buildFeatures default.nativeBuildInputs ]
      "${default.pname} ${default.version}")
  packages
