#!/usr/bin/perl
# Stands in for an ffmpeg with a device: takes the options of its encoders, and encodes with x264 instead, so that the output is real. What it does
# otherwise is in the file `behaviour` beside it, one word or one `word value` a line. The link `real` beside it leads to the real ffmpeg.
use strict;
use warnings;
use FindBin;

my $real = "$FindBin::Bin/real";
my @args = @ARGV;
my ($encoder) = map { /^h264_(vaapi|qsv|nvenc)$/ ? $1 : () } @args;
my $has_device = grep { $_ eq '-init_hw_device' } @args;
exec $real, @args unless defined $encoder || $has_device;

my %behaviour;
if (open my $file, '<', "$FindBin::Bin/behaviour") {
  while (<$file>) {
    chomp;
    next if $_ eq '';
    my ($word, $value) = split / /, $_, 2;
    $behaviour{$word} = ($value // 1) =~ s/\\n/\n/gr;
  }
}
if (open my $log, '>>', "$FindBin::Bin/commands") {
  print $log join("\t", @args), "\n";
}

sub fail {
  my ($message, $code) = @_;
  print STDERR "$message\n";
  exit($code // 1);
}

my $renditions = grep { /^h264_/ } @args;
fail($behaviour{says}, 218) if defined $behaviour{says};
# A run of a job has a source. The probe has none.
my $is_job = grep { /source\/file$/ } @args;
fail($behaviour{'job-says'}, 218) if $is_job && defined $behaviour{'job-says'};
fail("[h264_$encoder \@ 0x1] OpenEncodeSessionEx failed: out of memory (10): (no details)\nError initializing output stream 0:0")
  if defined $behaviour{sessions} && $renditions > $behaviour{sessions};

# Options of the three encoders that x264 has under another name, or not at all (undef).
my %option = (
  '-rc_mode:v' => undef, '-idr_interval:v' => undef, '-sei:v' => undef, '-low_power:v' => undef,
  '-adaptive_i:v' => undef, '-tune:v' => undef, '-rc:v' => undef, '-b_ref_mode:v' => undef,
  '-preset:v' => undef, '-forced_idr:v' => '-forced-idr:v',
);
my %devices;
my $filter_device = '';
my $low_power = 0;
my @real;
while (@args) {
  my $name = shift @args;
  if ($name eq '-init_hw_device') {
    my $value = shift @args;
    my ($type, $device, $of) = $value =~ /^(vaapi|qsv)=(\w+)[:@](.+)$/ or fail("Invalid device specification \"$value\"");
    fail("Device $of not found") if $type eq 'qsv' && !$devices{$of};
    fail("[AVHWDeviceContext \@ 0x1] No VA display found for device $of.\nDevice creation failed: -22.")
      if $type eq 'vaapi' && !-c $of;
    $devices{$device} = $type;
  } elsif ($name eq '-filter_hw_device') {
    $filter_device = shift @args;
    fail("Invalid filter device $filter_device.") unless $devices{$filter_device};
  } elsif ($name eq '-filter_complex') {
    my $graph = shift @args;
    if ($encoder eq 'vaapi') {
      my $uploads = () = $graph =~ /format=nv12,hwupload/g;
      fail("Impossible to convert between the formats supported by the filter and the encoder") if $uploads < $renditions && $graph =~ /\[\d+p\]/;
    }
    my $picture = $behaviour{green} ? ',lutyuv=y=0:u=0:v=0' : '';
    $graph =~ s/format=nv12(,hwupload)?/format=yuv420p$picture/g;
    push @real, $name, $graph;
  } elsif ($name eq '-c:v' && $args[0] !~ /^h264_/) {
    # Another output, such as an image. Its options follow, up to its path.
    push @real, $name, shift @args;
  } elsif ($name eq '-c:v') {
    shift @args;
    # With the fastest preset, a frame that is forced in an open GOP is no key frame.
    my $preset = $behaviour{'open-gop'} ? 'veryfast' : 'ultrafast';
    push @real, $name, 'libx264', '-preset:v', $preset, '-sc_threshold:v', '0', '-x264-params:v',
      'colorprim=undef:transfer=undef:colormatrix=undef' . ($behaviour{'open-gop'} ? ':open-gop=1' : '');
  } elsif ($name eq '-profile:v') {
    push @real, $name, shift @args, '-8x8dct:v', '1';
  } elsif ($name eq '-level:v') {
    my $level = shift @args;
    push @real, $name, $behaviour{level} // $level;
  } elsif ($name eq '-bf:v') {
    my $frames = shift @args;
    fail("[h264_nvenc \@ 0x1] Max B-frames $frames exceed 0\n[h264_nvenc \@ 0x1] Provided device doesn't support required NVENC features")
      if $frames > 0 && $behaviour{'no-b-frames'};
    push @real, $name, $frames;
  } elsif ($name eq '-force_key_frames:v' && $behaviour{'ignores-key-frames'}) {
    shift @args;
  } elsif ($name =~ /^-forced[-_]idr:v$/) {
    push @real, '-forced-idr:v', $behaviour{'open-gop'} ? (shift(@args), '0')[1] : shift @args;
  } elsif (exists $option{$name}) {
    my $value = shift @args;
    $low_power = 1 if $name eq '-low_power:v' && $value;
    push @real, $option{$name}, $value if defined $option{$name};
  } else {
    push @real, $name;
  }
}
fail("[h264_vaapi \@ 0x1] No usable encoding entrypoint found for profile VAProfileH264High (7).")
  if $behaviour{'low-power-only'} && !$low_power;
# ffmpeg makes each forced key frame of VAAPI an IDR picture.
@real = map { $_ eq 'libx264' ? ('libx264', '-forced-idr:v', $behaviour{'open-gop'} ? '0' : '1') : $_ } @real if $encoder eq 'vaapi';
my $loses = $behaviour{'loses-frames'};
@real = map { /^\[\d+p\]$/ && $loses ? ($_, '-frames:v', $loses) : $_ } @real if $loses && $is_job;
exec $real, @real unless $is_job && $behaviour{dies};

# Dies when the first segment is complete.
my $child = fork // die;
if ($child == 0) { exec $real, @real }
select undef, undef, undef, 0.02 until glob('output/*-0.*') && !glob('output/*-0.*.tmp') || waitpid($child, 1) == $child;
kill 'KILL', $child;
waitpid $child, 0;
fail("[h264_$encoder \@ 0x1] EncodePicture failed!: generic error (20): (no details)\nVideo encoding failed", 187);
