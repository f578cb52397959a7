-- The Cover of a ccp hex, of its terrain and of its fortification: T81.3, F100 to F107.

create or replace function ccp._fortifications()
returns table (kind text, rule text, cover integer, cover_overhead integer)
language sql immutable parallel safe rows 7
as $$
  values
  ('bunker', 'F101', 6, 7),
  ('cave', 'F102.2.3', 4, 8),
  ('foxholes', 'F103', 3, 4),
  ('mines', 'F104', null, null),
  ('pillbox', 'F105', 5, 6),
  ('trench', 'F106.1', 4, 5),
  ('wire', 'F107', null, null)
$$;

comment on function ccp._fortifications() is
'The seven fortifications (F100.1) and the Cover each gives its hex: usually, and against aircraft, mortars and
artillery; a cave gives its own to those inside alone.';

create or replace function ccp._covers(position_id bigint, q integer, r integer)
returns table (source text, rule text, cover integer, inside boolean)
language sql stable rows 3
as $$
  select
    replace(hex.terrain, '_', ' '),
    effect.rule,
    effect.halves / 2,
    false
  from public.position
  inner join public.hex on hex.map_id = position.map_id and hex.q = _covers.q and hex.r = _covers.r
  inner join public.terrain_effect as effect
    on effect.ruleset = 'ccp'
      and effect.feature = 'terrain'
      and effect.code = hex.terrain
      and effect.aspect = 'cover'
  where position.id = _covers.position_id
    -- T83
    and not exists (
      select
      from public.marker
      where marker.position_id = _covers.position_id
        and marker.q = _covers.q
        and marker.r = _covers.r
        and marker.kind = 'blaze'
    )
  union all
  select
    fort.kind,
    fort.rule,
    fort.cover,
    fort.kind = 'cave'
  from public.marker
  inner join ccp._fortifications() as fort on fort.kind = marker.kind and fort.cover is not null
  where marker.position_id = _covers.position_id
    and marker.q = _covers.q
    and marker.r = _covers.r
$$;

comment on function ccp._covers(bigint, integer, integer) is
'Every Cover that a hex offers against ordinary fire, and whether only those inside have it (T81.3.1).';
